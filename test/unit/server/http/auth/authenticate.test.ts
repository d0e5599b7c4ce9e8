import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createAuthenticate } from '../../../../../src/server/http/auth/authenticate.ts'
import type { Caller, CredentialResolver } from '../../../../../src/server/ports/credential-resolver.ts'
import { problem, type PlainProblemCode } from '../../../../../src/shared/problems.ts'

const CALLER: Caller = {
  subject: 'user:ann',
  kind: 'user',
  id: 'ann',
  domainId: 'home',
  displayName: 'Ann',
  credential: { kind: 'api-token', id: 'token', scopes: ['*'], expiresAtMs: undefined },
}
const STALE: Caller = { ...CALLER, staleSinceMs: 7 }

/** Resolves a credential whose look-up fails, for an operation that bridges outages or not. */
async function resolved(
  code: PlainProblemCode,
  { bridges, stale }: { bridges: boolean; stale: ReturnType<NonNullable<CredentialResolver['resolveStale']>> },
) {
  const resolver: CredentialResolver = {
    kind: 'api-token',
    recognizes: () => true,
    resolve: () => Promise.reject(problem(code)),
    resolveStale: () => stale,
  }
  const authenticate = createAuthenticate({
    resolvers: [resolver],
    log: pino({ level: 'silent' }),
    staleTimes: { checks: 30_000, state: 0 },
  })
  const operation = { credentials: ['api-token'], ...(bridges && { bridgesOutages: 'checks' as const }) } as const
  const presented = { headers: { authorization: 'Bearer psk_x' }, correlationId: 'c' }
  return authenticate({ operation, unauthenticated: 'unauthenticated' }, presented)
}

describe('a credential that cannot be looked up', () => {
  it('is taken from memory by an operation that bridges outages', async () => {
    expect(await resolved('datastore_unavailable', { bridges: true, stale: STALE })).toBe(STALE)
  })

  it('is refused from memory where that is what is remembered', async () => {
    const stale = { refused: true, log: 'revoked' } as const
    const refused = resolved('datastore_unavailable', { bridges: true, stale })
    await expect(refused).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it.each([
    ['by any other operation', 'datastore_unavailable', { bridges: false, stale: STALE }],
    ['where it is not remembered', 'datastore_unavailable', { bridges: true, stale: undefined }],
    ['for any other failure', 'internal', { bridges: true, stale: STALE }],
  ] as const)('is not taken from memory %s', async (_what, code, wish) => {
    await expect(resolved(code, wish)).rejects.toMatchObject({ code })
  })
})

describe('two credentials of one request', () => {
  const known = (
    recall: NonNullable<CredentialResolver['recall']>,
    more: Partial<CredentialResolver> = {},
  ): CredentialResolver => ({
    kind: 'api-token',
    recognizes: () => true,
    resolve: () => Promise.reject(new Error('it was looked up')),
    recall,
    ...more,
  })
  const REFUSED = { refused: true, log: 'unknown' } as const
  const cookie = { kind: 'session', cookie: 'service_session' } as const

  /** What they come to; the second is of a cookie. */
  function ask(resolvers: readonly CredentialResolver[]) {
    const authenticate = createAuthenticate({ resolvers, log: pino({ level: 'silent' }) })
    const operation = { credentials: ['api-token', 'session'] } as const
    const headers = { authorization: 'Bearer psk_x', cookie: 'service_session=y' }
    return authenticate({ operation, unauthenticated: 'unauthenticated' }, { headers, correlationId: 'c' })
  }

  it('are answered from memory, at once, where the first is known', () => {
    expect(ask([known(() => CALLER), known(() => undefined, cookie)])).toBe(CALLER)
  })

  it('are answered from memory where the first is refused and the second is known', () => {
    expect(ask([known(() => REFUSED), known(() => CALLER, cookie)])).toBe(CALLER)
  })

  it('are refused from memory where both are', () => {
    expect(() => ask([known(() => REFUSED), known(() => REFUSED, cookie)])).toThrow(
      expect.objectContaining({ code: 'unauthenticated' }),
    )
  })

  it('are looked up where the first is not known, although the second is', async () => {
    await expect(ask([known(() => undefined), known(() => CALLER, cookie)])).rejects.toThrow('it was looked up')
  })
})
