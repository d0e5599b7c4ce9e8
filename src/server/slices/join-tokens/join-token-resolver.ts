import { parseJoinToken } from '../../../shared/credential-formats.ts'
import { createBatching } from '../../http/batching.ts'
import { lookUp } from '../../http/auth/credential-look-up.ts'
import { isFingerprintOf } from '../../http/auth/stored-fingerprint.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller, CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { findJoinTokens, type JoinTokenRecord } from './store.ts'

export interface JoinTokenResolverDeps {
  readonly datastore: Datastore
  readonly keyring: Keyring
  readonly clock: Clock
}

const BOUNDS = { batchMax: 250, waitingMax: 16_384 } as const

/**
 * Resolves join tokens, each time from their row: a revocation counts from its commit. Those that are presented at once, as
 * when a fleet joins, are read in one statement. A used-up token resolves, since the registration itself answers
 * `join_token_exhausted`.
 */
export function createJoinTokenResolver({ datastore, keyring, clock }: JoinTokenResolverDeps): CredentialResolver {
  const find = createBatching({
    ...BOUNDS,
    async run(ids: readonly string[]) {
      const found = await findJoinTokens(datastore.pool('interactive'), ids)
      return ids.map((id) => found.get(id))
    },
  })

  async function resolve(presented: string): Promise<Caller | Refusal> {
    const fields = parseJoinToken(presented)
    if (fields === undefined) return refused('malformed')
    const token = await lookUp(() => find(fields.id))
    if (token === undefined || !isFingerprintOf(keyring, presented, token)) return refused('unknown')
    if (token.revoked_at !== null) return refused('revoked')
    if (token.expires_at.getTime() <= clock.now()) return refused('expired')
    return callerOf(token)
  }

  return { kind: 'join-token', recognizes: (presented) => presented.startsWith('jtk_'), resolve }
}

function refused(why: string): Refusal {
  return { refused: true, log: `join token ${why}` }
}

function callerOf(token: JoinTokenRecord): Caller {
  return {
    subject: `jointoken:${token.id}`,
    kind: 'join-token',
    id: token.id,
    domainId: token.domain_id,
    displayName: token.prefix,
    credential: { kind: 'join-token', id: token.id, scopes: ['*'], expiresAtMs: token.expires_at.getTime() },
  }
}
