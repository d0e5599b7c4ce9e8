import { CREDENTIAL_SECRETS } from '../../../shared/catalogue/credentials/index.ts'
import type { ProviderName } from '../../../shared/catalogue/providers/index.ts'
import type { cloudCredentials } from '../../../shared/contract/cloud-credentials.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import { problem, type Problem } from '../../../shared/problems.ts'
import type { CredentialRecord } from './store.ts'

type Operations = (typeof cloudCredentials)['operations']
type CredentialAnswer = Result<Operations['GetCloudCredential']>
export type PatchBody = Input<Operations['PatchCloudCredential']>['body']

/** What a credential is at an instant. */
export type EffectiveState = CredentialAnswer['state']

/** Where the secret is kept. */
export function pathOf(credentialId: string): string {
  return `cloud-credentials/${credentialId}`
}

/** The credential in references, and as the owner of its secret. */
export function referenceOf(credentialId: string): string {
  return `cloudcredential:${credentialId}`
}

/** The state, in which an end that has passed counts: nothing writes it when it comes. */
export function stateAt(
  { state, expires_at }: Pick<CredentialRecord, 'state' | 'expires_at'>,
  nowMs: number,
): EffectiveState {
  const hasEnded = expires_at !== null && expires_at.getTime() <= nowMs
  return state !== 'revoked' && hasEnded ? 'expired' : state
}

/** @throws Problem `illegal_transition` for a revoked one: nothing follows that. */
export function assertNotRevoked({ state }: Pick<CredentialRecord, 'state'>): void {
  if (state === 'revoked') throw problem('illegal_transition')
}

/**
 * The bytes of a secret that fits the provider.
 * @throws Problem `invalid_cloud_credential`, which repeats nothing of the secret.
 */
export function secretBytes(provider: ProviderName, secret: Readonly<Record<string, unknown>>): Buffer {
  const { schema, rule } = CREDENTIAL_SECRETS[provider]
  const { success, data } = schema.safeParse(secret)
  if (!success) throw invalid('/secret', rule)
  return Buffer.from(JSON.stringify(data), 'utf8')
}

/** The instant of a text that its schema took. @throws Problem `invalid_cloud_credential` unless it is in the future. */
export function endOf(text: string | null, nowMs: number): Date | null {
  if (text === null) return null
  const end = new Date(text)
  if (!(end.getTime() > nowMs)) throw invalid('/expires_at', 'must be in the future')
  return end
}

function invalid(pointer: string, detail: string): Problem {
  return problem('invalid_cloud_credential', { errors: [{ pointer, detail }] })
}

/**
 * The credential after a patch: `active <-> suspended` while it has not expired, or is given a later end at once.
 * @throws Problem `illegal_transition`, `invalid_cloud_credential`
 */
export function patched(found: CredentialRecord, body: PatchBody, nowMs: number): CredentialRecord {
  const { display_name = found.display_name, expires_at, state } = body
  if (state !== undefined || expires_at !== undefined) assertNotRevoked(found)
  const end = expires_at === undefined ? found.expires_at : endOf(expires_at, nowMs)
  const next = { ...found, display_name, expires_at: end, state: state ?? found.state, updated_at: new Date(nowMs) }
  if (state !== undefined && stateAt(next, nowMs) === 'expired') throw problem('illegal_transition')
  return next
}

/** The credential as the API shows it. */
export function toAnswer(credential: CredentialRecord, nowMs: number): CredentialAnswer {
  return {
    id: credential.id,
    cloud_id: credential.cloud_id,
    display_name: credential.display_name,
    state: stateAt(credential, nowMs),
    expires_at: credential.expires_at?.toISOString() ?? null,
    secret_version: credential.secret_version,
    rotated_at: credential.rotated_at?.toISOString() ?? null,
    revoked_by: credential.revoked_by,
    revoked_reason: credential.revoked_reason,
    created_at: credential.created_at.toISOString(),
    updated_at: credential.updated_at.toISOString(),
  }
}
