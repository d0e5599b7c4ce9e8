import { parseApiToken } from '../../../shared/credential-formats.ts'
import { createCachedResolver, type CachedResolverDeps, type FoundCredential } from '../../http/auth/cached-resolver.ts'
import { isFingerprintOf } from '../../http/auth/stored-fingerprint.ts'
import type { CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { ownerReference } from './owner.ts'
import { findCredential, type CredentialRecord } from './store.ts'

export interface ApiTokenResolverDeps extends CachedResolverDeps {
  readonly datastore: Datastore
  readonly keyring: Keyring
}

const TOKEN_LENGTH_MAX = 'psk__'.length + 16 + 32 + '_'.length + 49

const refusal = (log: string): Refusal => ({ refused: true, log })
const NO_TOKEN = refusal('not an API token: its form or checksum is wrong')
const UNKNOWN = refusal('unknown API token')
const REVOKED = refusal('revoked API token')
const EXPIRED = refusal('expired API token')

/** Resolves API tokens. Form and checksum are checked before the datastore is read; expiry is compared with the clock on every use. */
export function createApiTokenResolver({ datastore, ...deps }: ApiTokenResolverDeps): CredentialResolver {
  async function read(presented: string, id: string): Promise<FoundCredential | Refusal> {
    const record = await findCredential(datastore.pool('interactive'), id)
    if (record === undefined || !isFingerprintOf(deps.keyring, presented, record)) return UNKNOWN
    return record.revoked_at === null ? credentialOf(record) : REVOKED
  }

  return createCachedResolver(deps, {
    kind: 'api-token',
    recognizes: (presented) => presented.startsWith('psk_'),
    refuse: (presented) => (presented.length > TOKEN_LENGTH_MAX ? NO_TOKEN : undefined),
    lead(presented) {
      const id = parseApiToken(presented)?.id
      return id === undefined ? NO_TOKEN : { credentialId: id, read: () => read(presented, id) }
    },
    endOf: ({ caller: { credential } }, nowMs) =>
      credential.expiresAtMs !== undefined && credential.expiresAtMs <= nowMs ? EXPIRED : undefined,
  })
}

function credentialOf(record: CredentialRecord): FoundCredential {
  const { id, owner_id: ownerId, owner_kind: kind, scopes, self_issued: isSelfIssued } = record
  return {
    usedMs: record.last_used_at?.getTime() ?? Number.NEGATIVE_INFINITY,
    caller: {
      subject: ownerReference({ id: ownerId, kind }),
      kind,
      id: ownerId,
      domainId: record.domain_id,
      displayName: record.display_name,
      credential: { kind: 'api-token', id, scopes, isSelfIssued, expiresAtMs: record.expires_at.getTime() },
      ...(record.acr !== null && { acr: record.acr }),
      ...(record.auth_time !== null && { authTimeMs: record.auth_time.getTime() }),
    },
  }
}
