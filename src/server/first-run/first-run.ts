import { parseApiToken } from '../../shared/credential-formats.ts'
import { PLATFORM } from '../../shared/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { AuditEntry, Change, UnitOfWork } from '../ports/unit-of-work.ts'
import { found, type FoundDeps } from './found.ts'
import * as store from './store.ts'
import type { TokenHandover } from './token-handover.ts'

export interface FirstRunDeps extends FoundDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly handover: TokenHandover
}

/** `founded`: the token is where the handover puts it. `resumed`: so it is, since an earlier start was cut short. */
export type FirstRunOutcome = 'founded' | 'resumed' | 'nothing to do'

/**
 * Founds an empty datastore in one transaction and hands over the bootstrap token. Where another replica was first,
 * nothing is done.
 */
export async function firstRun(deps: FirstRunDeps): Promise<FirstRunOutcome> {
  if (await resume(deps)) return 'resumed'
  if (await store.hasDomain(deps.datastore.pool('interactive'))) return 'nothing to do'
  const isFounded = await change(deps, 'platform.found', async (tx) => {
    if (await store.hasDomain(tx.db)) return false
    await issue(tx, deps)
    return true
  })
  if (!isFounded) return 'nothing to do'
  deps.handover.publish()
  return 'founded'
}

/** Issues another bootstrap token: the way back in. Makes what is missing of what it needs. */
export async function remintBootstrapToken(deps: FirstRunDeps): Promise<void> {
  await resume(deps)
  await change(deps, 'platform.bootstrap_token', async (tx) => {
    await issue(tx, deps)
    return true
  })
  deps.handover.publish()
}

/** Settles what an interrupted start left: its token is published when it was committed, else forgotten. */
async function resume({ datastore, handover }: FirstRunDeps): Promise<boolean> {
  const token = handover.staged()
  if (token === undefined) return false
  const id = parseApiToken(token)?.id
  const isReal = id !== undefined && (await store.hasToken(datastore.pool('interactive'), id))
  if (isReal) handover.publish()
  else handover.discard()
  return isReal
}

/** Stages inside the transaction: no token is committed that could not be handed over. */
async function issue(tx: Change, deps: FirstRunDeps): Promise<void> {
  deps.handover.stage(await found(tx, new Date(deps.clock.now()), deps))
}

/** Runs the work alone, and audits it when it says that it did something. */
async function change(
  { unitOfWork, ids }: FirstRunDeps,
  relation: string,
  work: (tx: Change) => Promise<boolean>,
): Promise<boolean> {
  const correlationId = ids.next()
  let isDone = false
  const entry: AuditEntry = {
    domainId: null,
    subject: 'system:first-run',
    relation,
    object: PLATFORM,
    outcome: 'granted',
    reason: 'granted',
    correlationId,
    context: {},
  }
  await unitOfWork.run({ pool: 'worker', correlationId, audit: () => (isDone ? entry : undefined) }, async (tx) => {
    await store.lockFounding(tx.db)
    isDone = await work(tx)
  })
  return isDone
}
