import { openBackend, type Backend } from '../composition/backend.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Config } from '../config/config.ts'
import { createUsers } from '../slices/identities/users.ts'
import { hostPort } from '../composition/listen.ts'
import { addAdministrator, drawOneTimePassword } from '../composition/first-administrator.ts'
import { settleBinding } from '../composition/local-provider.ts'
import { createPasswordHashing } from '../slices/local-accounts/password-hash.ts'
import { findBundledBinding, findDomainId } from '../slices/local-accounts/store.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { Problem } from '../../shared/problems.ts'

/** The administrator to be added. */
export interface DatastoreAccount {
  readonly login: string
  /** Slug of the account's Domain; `default` when absent. */
  readonly domain?: string
}

const LOGIN = /^[a-z0-9][a-z0-9._+@-]{0,253}$/

/**
 * Adds a platform administrator while the server is stopped, or on its database, to regain access. The one-time password goes
 * to stdout, once. Resolves with the exit code.
 */
export function runAdminUsersAdd(call: AdminCall, draft: DatastoreAccount): Promise<number> {
  return runAdmin({ name: 'admin users add', help: '' }, call, async () => {
    const config = configOf(call.argv, call.env)
    if (!LOGIN.test(draft.login))
      throw new BootError(1, `${draft.login} is no login: lower-case letters, digits and . _ + @ - make one.`)
    if (!config.hasBundledProvider)
      throw new BootError(1, 'The bundled provider is switched off, so that nobody could sign in with the account.')
    call.stdout.write(`${await add(config, draft, call.stderr)}\n`)
    call.stderr.write(
      `Added ${draft.login}, who administers the platform. The one-time password is shown this once: start the server, open its address and sign in.\n`,
    )
  })
}

async function add(config: Config, draft: DatastoreAccount, stderr: TextSink): Promise<string> {
  const log = createLog(config.logLevel, stderr)
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const backend = await openBackend(config, { log, onNew: ignore, onAuditFailure: ignore, onBroken: ignore })
  try {
    await backend.feed.start()
    await backend.engine.prepare()
    return await addOver(backend, config, draft)
  } finally {
    backend.feed.stop()
    await backend.engine.close()
    await backend.datastore.close()
  }
}

async function addOver(backend: Backend, config: Config, { login, domain = 'default' }: DatastoreAccount) {
  const { unitOfWork, ids, clock, datastore } = backend
  const domainId = await findDomainId(datastore.pool('interactive'), domain)
  if (domainId === undefined)
    throw new BootError(1, `There is no Domain ${domain} here: start the server once, or name another with --domain.`)
  // The server sets it right with its own address at its next start.
  if (!(await isBound(backend)))
    await settleBinding(backend, config, config.baseUrl ?? `http://${hostPort(config.listen)}`)
  const password = await drawOneTimePassword(createPasswordHashing())
  const [id, userId, correlationId] = [ids.next(), ids.next(), ids.next()]
  const subject = `user:${userId}`
  const entry: AuditEntry = {
    domainId: null,
    subject: 'system:admin-users-add',
    relation: 'local_account.create',
    object: subject,
    outcome: 'granted',
    reason: 'granted',
    correlationId,
    context: {},
  }
  const createdAt = new Date(clock.now())
  const added = { id, userId, login, domainId, passwordHash: password.hash, createdAt, users: createUsers(backend) }
  await unlessTaken(
    unitOfWork.run({ pool: 'worker', correlationId, audit: () => [entry] }, (tx) => addAdministrator(tx, added)),
  )
  return password.text
}

async function unlessTaken(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'account_already_exists') throw error
    throw new BootError(1, 'An account with this login exists; choose another login.', error)
  }
}

async function isBound({ datastore }: Backend): Promise<boolean> {
  return (await findBundledBinding(datastore.pool('interactive'))) !== undefined
}
