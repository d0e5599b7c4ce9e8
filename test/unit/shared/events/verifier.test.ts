import { createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readKeySet } from '../../../../src/shared/audit/key-set.ts'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import {
  createEnvelopeVerifier,
  keysIn,
  verifyWithNoble,
  type VerifySignature,
} from '../../../../src/shared/events/verifier.ts'
import { NODE_ID, signed, vector, vectorKey, type VectorParts } from '../../../support/events/event-vectors.ts'

const KEY = vectorKey('key-1', 7)
const OTHER = vectorKey('key-2', 8, { exp: Date.parse('2026-01-02T03:04:05.678Z') / 1000 })

const findKey = keysIn(readKeySet({ keys: [KEY.jwk, OTHER.jwk] }))

/** What a platform has: OpenSSL in this process. */
const withNode: VerifySignature = (signature, message, publicKey) => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') }
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

const VERIFIERS = { noble: verifyWithNoble, 'node:crypto': withNode }

describe.each(Object.entries(VERIFIERS))('The verifier of envelopes, with %s', (_, verifySignature) => {
  const verifies = createEnvelopeVerifier({ findKey, verify: verifySignature })
  const faultOf = async (text: string, nodeId?: string): Promise<string | undefined> => {
    const verification = await verifies(text, { nodeId })
    return verification.ok ? undefined : verification.fault
  }
  const HINT = vector(KEY, { node_seq: 1 })

  it('takes what the server signed', async () => {
    expect(await verifies(HINT.wire, { nodeId: NODE_ID })).toMatchObject({
      ok: true,
      envelope: { node_seq: 1, node_id: NODE_ID, type: 'node_state_updated', kid: 'key-1' },
    })
  })

  it('takes and keeps types, members and payload members that only a later server has', async () => {
    const parts: VectorParts = {
      node_seq: 2,
      type: 'tide_turned',
      payload: { height: 1.5 },
      more: { zone: 'z1', 10: [], 9: {} },
    }
    const verification = await verifies(vector(KEY, parts).wire)
    expect(verification).toMatchObject({
      ok: true,
      envelope: { type: 'tide_turned', payload: { height: 1.5 }, zone: 'z1' },
    })
  })

  it('takes text of every script and numbers of every size', async () => {
    const payload = { reason: 'é \u2028 🚀 \u0000"\\', blocks: [1e21, -0.5, 5e-324], peers: [], '': null }
    expect(await faultOf(vector(KEY, { node_seq: 3, payload }).wire)).toBeUndefined()
  })

  const rest = HINT.canonical.slice(1)
  it.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['no signature', HINT.canonical],
    ['a signature that is not the last member', `{"signature":"${HINT.signature}",${rest}`],
    ['a cut end', HINT.wire.slice(0, -1)],
    ['a cut beginning', HINT.wire.slice(1)],
    ['something after the end', `${HINT.wire} `],
    ['a signature of 63 bytes', HINT.wire.replace(HINT.signature, HINT.signature.slice(0, 84))],
    ['a signature with padding', HINT.wire.replace(HINT.signature, `${HINT.signature}==`)],
    ['two signatures', HINT.wire.replace('{', `{"signature":"${HINT.signature}",`)],
    ['another major version', signed(KEY, HINT.canonical.replace('"v1"', '"v2"')).wire],
    ['no number', signed(KEY, HINT.canonical.replace('"node_seq":1,', '')).wire],
    ['a number that is a text', signed(KEY, HINT.canonical.replace('"node_seq":1,', '"node_seq":"1",')).wire],
    ['a negative number', signed(KEY, HINT.canonical.replace('"node_seq":1,', '"node_seq":-1,')).wire],
    ['a payload that is a list', vector(KEY, { node_seq: 1, payload: [] }).wire],
    ['no instant', vector(KEY, { node_seq: 1, occurred_at: 'yesterday' }).wire],
    ['no kid', signed(KEY, HINT.canonical.replace('"key-1"', '""')).wire],
  ])('refuses %s as malformed', async (_name, text) => {
    expect(await faultOf(text)).toBe('malformed')
  })

  it.each([
    ['white space', HINT.canonical.replace('{', '{ ')],
    ['another order', `{"type":"node_state_updated",${rest.replace(',"type":"node_state_updated"', '')}`],
    ['a member twice', HINT.canonical.replace('{', '{"api_version":"v1",')],
    ['another escape', HINT.canonical.replace('"changed"', String.raw`"\u0063hanged"`)],
    ['another number', HINT.canonical.replace('"node_seq":1,', '"node_seq":1.0,')],
    ['nesting without end', HINT.canonical.replace('"changed"', `${'['.repeat(200_000)}${']'.repeat(200_000)}`)],
    ['a lone surrogate', HINT.canonical.replace('"changed"', String.raw`"\ud800"`)],
  ])('refuses %s as not canonical, though it is signed', async (_name, canonical) => {
    expect(await faultOf(signed(KEY, canonical).wire)).toBe('not_canonical')
  })

  it('refuses a key that is not published', async () => {
    expect(await faultOf(vector(vectorKey('key-3', 7), { node_seq: 1 }).wire)).toBe('unknown_key')
  })

  it('refuses what occurred when its key verified nothing any more, and takes what came a millisecond before', async () => {
    const at = (occurred_at: string) => vector(OTHER, { node_seq: 1, occurred_at }).wire
    expect(await faultOf(at('2026-01-02T03:04:05.677Z'))).toBeUndefined()
    expect(await faultOf(at('2026-01-02T03:04:05.678Z'))).toBe('expired_key')
  })

  it('refuses the signature of another key, of another envelope, and none at all', async () => {
    const second = vector(KEY, { node_seq: 2 })
    const forged = vector({ ...OTHER, kid: 'key-1' }, { node_seq: 1 })
    expect(await faultOf(forged.wire)).toBe('bad_signature')
    expect(await faultOf(HINT.wire.replace(HINT.signature, second.signature))).toBe('bad_signature')
    expect(await faultOf(HINT.wire.replace(HINT.signature, 'A'.repeat(86)))).toBe('bad_signature')
  })

  it('refuses the genuine envelope of another node', async () => {
    expect(await faultOf(HINT.wire, '0197a000-0000-7000-8000-00000000a002')).toBe('wrong_node')
  })

  it('refuses a changed character wherever it is', async () => {
    const { wire } = vector(KEY, { node_seq: 12, payload: { reason: 'changed', blocks: ['keys'], peers: [] } })
    const place = fc.nat({ max: wire.length - 1 })
    await fc.assert(
      fc.asyncProperty(place, fc.constantFrom('0', 'a', 'Q', '"', ' ', '}', 'é'), async (at, character) => {
        fc.pre(wire[at] !== character)
        expect(await faultOf(wire.slice(0, at) + character + wire.slice(at + 1))).toBeDefined()
      }),
      { numRuns: 60 },
    )
  })
})

describe('Both ways of verifying', () => {
  const payload = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()).filter((value) => isCanonical(value))

  it('agree on every payload, genuine and with a bit of its signature turned', async () => {
    await fc.assert(
      fc.asyncProperty(payload, fc.nat({ max: 511 }), async (value, bit) => {
        const { wire, signature } = vector(KEY, { node_seq: 1, payload: value })
        const turned = Buffer.from(signature, 'base64url')
        turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const forged = wire.replace(signature, turned.toString('base64url'))
        for (const verifySignature of Object.values(VERIFIERS)) {
          const verifies = createEnvelopeVerifier({ findKey, verify: verifySignature })
          expect((await verifies(wire)).ok).toBe(true)
          expect(await verifies(forged)).toMatchObject({ ok: false, fault: 'bad_signature' })
        }
      }),
      { numRuns: 40 },
    )
  })
})

function isCanonical(value: unknown): boolean {
  try {
    return canonicalize(value) !== ''
  } catch {
    return false
  }
}
