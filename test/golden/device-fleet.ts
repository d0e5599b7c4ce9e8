import { refused, type StubAnswer, type StubRoutes } from '../support/cli/stub-server.ts'
import { TOKEN } from './fleet.ts'

const OPEN = new Set(['/v1/auth/device-code', '/v1/auth/device-token'])

/** Whether the operation is asked before anybody is signed in. */
export const isOpen = (path: string): boolean => OPEN.has(path)

const CODES = {
  device_code: 'opaque-device-code',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://mesh.example/v1/device',
  verification_uri_complete: 'https://mesh.example/v1/device?user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 5,
}

const pending = refused(400, 'authorization_pending', 'Nobody has decided yet; ask again after the interval.')
const slowDown = refused(400, 'slow_down', 'Asked too early.')
const expired = refused(400, 'expired_token', 'The device code has expired; begin again.')
const denied = refused(400, 'access_denied', 'The sign-in of this device was refused.')
const granted = { body: { access_token: TOKEN, token_type: 'Bearer', expires_in: 2_592_000, scope: 'nodes:read' } }

/** The provider `nobody` is none, and who asks for `several` has to name a Domain, which is not there. */
function beginning(body: unknown): StubAnswer {
  const { idp_binding_alias: alias, domain } = body as Readonly<Record<string, unknown>>
  if (alias === 'nobody')
    return refused(404, 'alias-not-found', 'No active identity provider binding of the Domain has this alias.')
  if (alias !== 'several') return { body: CODES }
  return domain === undefined
    ? refused(400, 'domain_required', 'The server has several Domains and the request names none.')
    : refused(404, 'idp_binding_not_found', 'No active identity provider binding fits the request.')
}

/** A server on which the first device is approved after some questions, the second refused, and the others are too late. */
export function deviceFlow(): StubRoutes {
  return {
    'POST /v1/auth/device-code': ({ body }) => beginning(body),
    'POST /v1/auth/device-token': [
      pending,
      slowDown,
      refused(503, 'shutting_down', 'Going away.'),
      granted,
      denied,
      expired,
    ],
  }
}
