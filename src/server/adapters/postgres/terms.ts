import { sql } from 'kysely'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { LeadershipLost } from '../../ports/leadership-lost.ts'
import type { Leading } from '../../ports/leadership.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'

export interface TermsDeps {
  readonly datastore: Datastore
  /** Makes the server's unit of work over another datastore. */
  readonly unitOfWorkOver: (datastore: Datastore) => UnitOfWork
  /** The name of this process in the table, for operators. */
  readonly holder: string
}

/**
 * How long PostgreSQL waits for the next statement of a leader's transaction, in ms. A leader that is suspended within
 * a transaction blocks its successor, and callers that need its rows, for no longer than this.
 */
const IDLE_MS = 2_000

/**
 * PostgreSQL ends the session of a transaction that is idle for too long. The embedded engine has one session and no
 * waiting successor: the end of that session would stop the engine.
 */
const IDLE_MS_ON: Readonly<Record<Datastore['kind'], number>> = { postgres: IDLE_MS, embedded: 0 }

/** Begins a term. Waits for the transactions of the previous term, which lock the row until they end. */
export async function takeTerm(deps: TermsDeps, signal: AbortSignal): Promise<Leading> {
  const term = await deps.datastore.transaction('worker', async (tx) => {
    const { term: taken } = await tx
      .updateTable('leader_term')
      .set((on) => ({ term: on('term', '+', '1'), holder: deps.holder }))
      .where('id', '=', 1)
      .returning('term')
      .executeTakeFirstOrThrow()
    return taken
  })
  const fenced = fence(deps.datastore, { term, signal })
  return {
    transaction: (work) => fenced.transaction('worker', work),
    unitOfWork: deps.unitOfWorkOver(fenced),
    signal,
  }
}

/** A datastore whose transactions first check that the term is still the current one. */
function fence(datastore: Datastore, own: { term: string; signal: AbortSignal }): Datastore {
  return {
    ...datastore,
    async transaction(pool, work) {
      if (own.signal.aborted) throw new LeadershipLost(`term ${own.term} has ended`)
      return datastore.transaction(pool, async (tx) => {
        await assertTerm(tx, own.term, IDLE_MS_ON[datastore.kind])
        return work(tx)
      })
    },
  }
}

/** Locks the row of the term until the transaction ends, so that the next term begins after it. */
async function assertTerm(tx: Db, term: string, idleMs: number): Promise<void> {
  const { rows } = await sql<{ term: string }>`
    select term, set_config('idle_in_transaction_session_timeout', ${String(idleMs)}, true)
    from leader_term where id = 1 for share`.execute(tx)
  const present = rows[0]?.term
  if (present !== term) throw new LeadershipLost(`term ${term} has ended: the present one is ${present}`)
}
