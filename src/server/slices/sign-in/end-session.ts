import type { IssuerMetadata } from '../../ports/issuers.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'

/**
 * Where a browser goes to end its session with the provider (OpenID Connect RP-Initiated Logout 1.0 §2); undefined where
 * the provider announces no such address. It names no return address: those must be registered at the provider,
 * and a provider that does not know one does not end the session.
 */
export function endSessionUrl(
  metadata: IssuerMetadata,
  binding: Pick<IdpBinding, 'clientId' | 'allowPrivateNetwork'>,
  idToken: string | undefined,
): string | undefined {
  const endpoint = metadata['end_session_endpoint']
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return undefined
  const url = new URL(endpoint)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && binding.allowPrivateNetwork)) return undefined
  url.searchParams.set('client_id', binding.clientId)
  if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken)
  return url.href
}
