import type { Backend } from '../../src/server/composition/backend.ts'
import { addServiceIdentity, newServiceIdentity } from '../../src/server/slices/identities/add-service-identity.ts'
import type { Change } from '../../src/server/ports/unit-of-work.ts'
import { createSessions } from '../../src/server/slices/sessions/sessions.ts'

function changeOf<T>({ unitOfWork }: Backend, work: (change: Change) => Promise<T>): Promise<T> {
  return unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work)
}

/** Adds a user to the Domain as a first sign-in would, and tells its id. */
export async function addUser(backend: Backend, domainId: string): Promise<string> {
  const id = backend.ids.next()
  const createdAt = new Date(backend.clock.now())
  const draft = { id, domainId, displayName: 'A person', subject: `person-${id}`, createdAt }
  const row = { ...(await newServiceIdentity(draft, backend)), kind: 'user' as const }
  await changeOf(backend, (change) => addServiceIdentity(change, row))
  return id
}

/** Has a local account have an authenticator app; nobody signs in with it. */
export async function enrolApp({ datastore, sealing, clock }: Backend, accountId: string): Promise<void> {
  const place = { table: 'local_accounts', column: 'totp_sealed', rowId: accountId }
  const sealed = await sealing.seal(place, Buffer.from('JBSWY3DPEHPK3PXP', 'ascii'))
  const update = datastore.pool('interactive').updateTable('local_accounts')
  await update
    .set({ totp_sealed: sealed, totp_enrolled_at: new Date(clock.now()) })
    .where('id', '=', accountId)
    .execute()
}

/** Opens sessions as a sign-in does; resolves with the cookies that the browser then sends. */
export function createSessionOpener(
  backend: Backend,
): (person: { readonly id: string; readonly domainId: string }) => Promise<string> {
  const sessions = createSessions(backend)
  return async ({ id, domainId }) => {
    const nowMs = backend.clock.now()
    const draft = {
      principalId: id,
      domainId,
      bindingId: backend.ids.next(),
      acr: undefined,
      amr: ['pwd'],
      authTimeMs: nowMs,
      sourceAddress: '127.0.0.1',
      userAgent: 'conformance',
      nowMs,
    }
    const opened = await changeOf(backend, (change) => sessions.open(change, draft))
    return `service_session=${opened.cookie}; service_csrf=${sessions.csrfToken(opened.id)}`
  }
}
