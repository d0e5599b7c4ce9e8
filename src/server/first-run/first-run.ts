import { parseApiToken } from '../../shared/credential-formats.ts'
import { PLATFORM } from '../../shared/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { AuditEntry, Change, UnitOfWork } from '../ports/unit-of-work.ts'
import { bootstrap, DEFAULT_SLUG, type BootstrapDeps } from './bootstrap.ts'
import { resumeAdministrator, type FirstAdministrator, type OneTimePassword } from './administrator.ts'
import * as store from './store.ts'
import type { TokenHandover } from './token-handover.ts'

export interface FirstRunDeps extends BootstrapDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly handover: TokenHandover
  /** Absent if this server has no local accounts. */
  readonly administrator?: FirstAdministrator | undefined
}

/**
 * `founded`: this start created the platform and published the token. `resumed`: it published the token of an
 * interrupted start.
 */
export type FirstRunOutcome = 'founded' | 'resumed' | 'nothing to do'

/**
 * Creates the first objects of an empty datastore in one transaction, then publishes the bootstrap token. Does nothing
 * if another replica was first.
 */
export async function firstRun(deps: FirstRunDeps): Promise<FirstRunOutcome> {
  const { administrator } = deps
  const hasPassword = administrator !== undefined && (await resumeAdministrator(administrator))
  if ((await resume(deps)) || hasPassword) return 'resumed'
  if (await store.hasDomain(deps.datastore.pool('interactive'))) return 'nothing to do'
  // Created before the transaction: hashing takes long.
  const password = await administrator?.draw()
  const isFounded = await change(deps, 'platform.found', async (tx) => {
    if (await store.hasDomain(tx.db)) return false
    await issue(tx, deps)
    if (password !== undefined) await addAdministrator(tx, password, deps)
    return true
  })
  if (!isFounded) return 'nothing to do'
  deps.handover.publish()
  administrator?.handover.publish()
  return 'founded'
}

/** Issues another bootstrap token, for an operator who has lost access. Creates missing objects that the token needs. */
export async function remintBootstrapToken(deps: FirstRunDeps): Promise<void> {
  await resume(deps)
  await change(deps, 'platform.bootstrap_token', async (tx) => {
    await issue(tx, deps)
    return true
  })
  deps.handover.publish()
}

/** Publishes the staged token of an interrupted start if the token was committed; discards it otherwise. */
async function resume({ datastore, handover }: FirstRunDeps): Promise<boolean> {
  const token = handover.staged()
  if (token === undefined) return false
  const id = parseApiToken(token)?.id
  const isReal = id !== undefined && (await store.hasToken(datastore.pool('interactive'), id))
  if (isReal) handover.publish()
  else handover.discard()
  return isReal
}

/** Stages the token inside the transaction: a token that cannot be staged is not committed. */
async function issue(tx: Change, deps: FirstRunDeps): Promise<void> {
  deps.handover.stage(await bootstrap(tx, new Date(deps.clock.now()), deps))
}

/** Adds the administrator. Its password is staged inside the transaction as well. */
async function addAdministrator(tx: Change, { text, hash }: OneTimePassword, deps: FirstRunDeps): Promise<void> {
  const domainId = await store.findDomainId(tx.db, DEFAULT_SLUG)
  if (domainId === undefined || deps.administrator === undefined)
    throw new Error('there is no Domain for an administrator')
  const createdAt = new Date(deps.clock.now())
  await deps.administrator.add(tx, { id: deps.ids.next(), domainId, passwordHash: hash, createdAt })
  deps.administrator.handover.stage(text)
}

/** Runs the work under the lock of first runs. Writes an audit row if the work reports a change. */
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
  await unitOfWork.run({ pool: 'worker', correlationId, audit: () => (isDone ? [entry] : []) }, async (tx) => {
    await store.lockFounding(tx.db)
    isDone = await work(tx)
  })
  return isDone
}
