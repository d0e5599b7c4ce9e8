import { describe, expect, it } from 'vitest'
import { newSession } from '../../../../../src/server/slices/mediated-sessions/session.ts'
import { signToken } from '../../../../../src/server/slices/mediated-sessions/session-token.ts'
import type { VerificationKey } from '../../../../../src/server/ports/signer.ts'

const session = newSession(
  {
    id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
    projectId: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
    issuedBy: 'serviceaccount:x',
    at: new Date('2026-03-01T08:00:00.900Z'),
  },
  { node_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4d', kind: 'tcp', target: 'db:5432', ttl_seconds: 1 },
)

const published = (kid: string): VerificationKey => ({
  kid,
  publicKey: Buffer.alloc(32),
  notBefore: new Date(0),
  signsFrom: new Date(0),
  notAfter: undefined,
  state: 'current',
})

/** Names one key, and signs with those in turn. */
function signerOf(named: string, ...signing: readonly string[]) {
  const signed: string[] = []
  return {
    signed,
    keys: () => [published(named)],
    async sign(bytes: Uint8Array) {
      signed.push(Buffer.from(bytes).toString())
      return { kid: signing[signed.length - 1] ?? named, signature: Buffer.from('signature') }
    },
  }
}

const parsed = (part = ''): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())

describe('signToken', () => {
  it('signs header and claims, instants in whole seconds rounded down', async () => {
    const signer = signerOf('k1')
    const [header, claims, signature] = (await signToken(signer, session, 'https://ctl.example')).split('.')
    expect(parsed(header)).toEqual({ alg: 'EdDSA', kid: 'k1', typ: 'JWT' })
    expect(parsed(claims)).toEqual({
      iss: 'https://ctl.example',
      sub: 'serviceaccount:x',
      aud: session.node_id,
      jti: session.id,
      kind: 'tcp',
      target: 'db:5432',
      iat: 1_772_352_000,
      exp: 1_772_352_001,
    })
    expect(signature).toBe(Buffer.from('signature').toString('base64url'))
    expect(signer.signed).toEqual([`${header}.${claims}`])
  })

  it('names the key that signed where another one took over', async () => {
    const [header] = (await signToken(signerOf('k1', 'k2', 'k2'), session, 'x')).split('.')
    expect(parsed(header)).toMatchObject({ kid: 'k2' })
  })

  it('gives up where the key changes again', async () => {
    await expect(signToken(signerOf('k1', 'k2', 'k3'), session, 'x')).rejects.toMatchObject({
      code: 'signing_unavailable',
    })
  })
})
