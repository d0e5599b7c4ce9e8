import type { Change } from '../../ports/unit-of-work.ts'
import type { CredentialRecord } from './store.ts'

type Literal =
  | 'CloudCredentialCreated'
  | 'CloudCredentialUpdated'
  | 'CloudCredentialDeleted'
  | 'CloudCredentialRotated'
  | 'CloudCredentialRevoked'

/** Appends an outbox event of a credential. Clouds belong to the platform: the event has no Domain. */
export function announce(change: Change, event: Literal, credential: CredentialRecord): void {
  const { id, cloud_id, display_name, state, secret_version } = credential
  const names = { cloud_credential_id: id, cloud_id, display_name }
  const place = { domainId: null, aggregate: `cloudcredential:${id}` }
  if (event === 'CloudCredentialUpdated') change.emit({ event, ...place, payload: { ...names, state } })
  else if (event === 'CloudCredentialRotated') change.emit({ event, ...place, payload: { ...names, secret_version } })
  else change.emit({ event, ...place, payload: names })
}
