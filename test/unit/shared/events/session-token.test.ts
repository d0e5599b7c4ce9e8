import { describe, expect, it } from 'vitest'
import { createSignatureVerifier } from '../../../../src/client/verify-signature.ts'
import { readKeySet } from '../../../../src/shared/audit/key-set.ts'
import {
  createSessionTokenVerifier,
  SESSION_TOKEN_FAULTS,
  sessionOf,
} from '../../../../src/shared/events/session-token.ts'
import { keysIn } from '../../../../src/shared/events/verifier.ts'
import type { SessionSetupPayload } from '../../../../src/shared/events/wire-types.ts'
import { readVectors } from '../../../support/run/vectors.ts'

interface Shown {
  readonly token: string
  readonly node_id: string
  readonly now: number
  readonly sessions: readonly SessionSetupPayload[]
}

const { vectors, keys } = readVectors<Shown, { session_id: string } | { fault: string }>('session-token')
const findKey = keysIn(readKeySet(keys))
const encoded = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url')

describe.each([
  ['OpenSSL', createSignatureVerifier()],
  ['noble', undefined],
])('Session tokens verified with %s', (_, verify) => {
  const verifyToken = createSessionTokenVerifier({ findKey, ...(verify && { verify }) })

  async function admit({ token, node_id: nodeId, now, sessions }: Shown): Promise<object> {
    const verified = await verifyToken(token, { nodeId, nowSeconds: now })
    if (!verified.ok) return { fault: verified.fault }
    const session = sessionOf(verified.claims, new Map(sessions.map((one) => [one.session_id, one])))
    return typeof session === 'string' ? { fault: session } : { session_id: session.session_id }
  }

  it.each(vectors)('$name', async ({ input, expected }) => {
    expect(await admit(input)).toEqual(expected)
  })

  it('find every fault that the vectors name', () => {
    const named = vectors.flatMap(({ expected }) => ('fault' in expected ? [expected.fault] : []))
    expect(new Set(named)).toEqual(new Set(SESSION_TOKEN_FAULTS))
  })

  it.each([
    ['a fourth part', (token: string) => `${token}.x`, 'malformed'],
    ['padding', (token: string) => `${token}==`, 'malformed'],
    ['an array as its header', (token: string) => [encoded([]), ...token.split('.').slice(1)].join('.'), 'malformed'],
    [
      'a header without a key',
      (token: string) => [encoded({ alg: 'EdDSA' }), ...token.split('.').slice(1)].join('.'),
      'unknown_key',
    ],
    [
      'an algorithm in other letters',
      (token: string) => [encoded({ alg: 'eddsa', kid: 'key-1' }), ...token.split('.').slice(1)].join('.'),
      'wrong_algorithm',
    ],
    ['no signature', (token: string) => token.replace(/[^.]*$/, ''), 'bad_signature'],
  ])('refuse %s', async (_name, alter, fault) => {
    const [first] = vectors
    if (first === undefined) throw new Error('there are no vectors')
    expect(await admit({ ...first.input, token: alter(first.input.token) })).toEqual({ fault })
  })
})
