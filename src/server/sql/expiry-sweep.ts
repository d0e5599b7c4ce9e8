import { sql } from 'kysely'
import type { Clock } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'

/** The tables that are swept by nothing but their `expires_at`, each with its key. */
const KEYS = { device_sign_ins: 'id', invitations: 'id', join_tokens: 'id', sign_ins: 'state_hash' } as const

export interface ExpirySweep {
  readonly name: string
  readonly table: keyof typeof KEYS
  /** How long a row stays after its end, ms. */
  readonly keptMs: number
  /** Pause after each pass, ms. */
  readonly everyMs: number
  /** Rows deleted in one transaction. */
  readonly rowsMax: number
}

/** The job that deletes the rows of one table some time after they have expired, the longest expired first. */
export function createExpirySweep(clock: Clock, { name, everyMs, ...sweep }: ExpirySweep): LeaderJob {
  return {
    name,
    everyMs,
    async run(leading) {
      const before = new Date(clock.now() - sweep.keptMs)
      return (await leading.transaction((tx) => deleteExpired(tx, sweep, before))) === sweep.rowsMax
    },
  }
}

/** A row that somebody is using is left to a later pass. */
async function deleteExpired(
  tx: Db,
  { table, rowsMax }: Pick<ExpirySweep, 'table' | 'rowsMax'>,
  before: Date,
): Promise<number> {
  const key = sql.ref(KEYS[table])
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${key} in (
      select ${key} from ${sql.table(table)} where expires_at < ${before}
      order by expires_at limit ${rowsMax} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows)
}
