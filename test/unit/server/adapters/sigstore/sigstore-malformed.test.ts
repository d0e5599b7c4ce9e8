import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Verdict } from '../../../../../src/server/ports/release-verifier.ts'
import { depth } from '../../../../support/run/depth.ts'
import {
  BINARY,
  createReleaseJudge,
  unverified,
  VERIFIED,
  type ReleaseJudge,
} from '../../../../support/sigstore/release-judge.ts'

const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json'

let judge: ReleaseJudge
let bundle: Uint8Array

beforeAll(async () => {
  judge = await createReleaseJudge()
  bundle = await judge.world.attest({ version: '1.5.0', binary: BINARY })
})

describe('what is no bundle is not verified', () => {
  const noBundle = 'The attestation is not a Sigstore bundle of version 0.1, 0.2 or 0.3.'
  const noJson = 'The attestation is not JSON, or it is truncated.'

  test.each([
    ['nothing', '', 'The attestation is empty.'],
    ['null', 'null', noBundle],
    ['a number', '7', noBundle],
    ['a list', '[]', noBundle],
    ['an object', '{}', noBundle],
    ['a later version', '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.9+json"}', noBundle],
    ['a media type with something behind it', `{"mediaType":"${BUNDLE_TYPE};x"}`, noBundle],
    ['a media type that is a list', `{"mediaType":["${BUNDLE_TYPE}"]}`, noBundle],
    ['an empty bundle', `{"mediaType":"${BUNDLE_TYPE}"}`, 'The Sigstore bundle is malformed.'],
    [
      'a bundle of other types',
      `{"mediaType":"${BUNDLE_TYPE}","verificationMaterial":7}`,
      'The Sigstore bundle is malformed.',
    ],
    ['no JSON', 'hello', noJson],
    ['a bundle with bytes behind it', `{"mediaType":"${BUNDLE_TYPE}"}}`, noJson],
    ['lists without end', '['.repeat(1_000_000), noJson],
    ['nested lists', `${'['.repeat(500_000)}${']'.repeat(500_000)}`, noBundle],
  ])('%s', async (_, text, reason) => {
    expect(await judge.judge(Buffer.from(text))).toEqual(unverified(reason))
  })

  test('text that is not UTF-8', async () => {
    expect(await judge.judge(Buffer.concat([bundle, Buffer.from([0xff])]))).toEqual(unverified(noJson))
  })

  test('a bundle of 10 MB, which is not parsed', async () => {
    const padded = Buffer.concat([bundle, Buffer.alloc(10_000_000, ' ')])
    expect(await judge.judge(padded)).toEqual(unverified('The attestation is larger than 1 MiB.'))
  })
})

test('a bundle may have 1 MiB', async () => {
  const padded = Buffer.concat([bundle, Buffer.alloc(1_048_576 - bundle.length, ' ')])
  expect(await judge.judge(padded)).toEqual(VERIFIED)
  expect(await judge.judge(Buffer.concat([padded, Buffer.from(' ')]))).toEqual(
    unverified('The attestation is larger than 1 MiB.'),
  )
})

test('a truncated bundle is not verified, wherever it ends', async () => {
  for (let end = 1; end < bundle.length; end += 97)
    expect(await judge.judge(bundle.subarray(0, end))).toMatchObject({ verdict: 'unverified' })
})

describe('a bundle without a certificate is not verified', () => {
  const without = (material: object): Uint8Array => {
    const json = JSON.parse(Buffer.from(bundle).toString()) as { verificationMaterial: { certificate?: object } }
    delete json.verificationMaterial.certificate
    return Buffer.from(JSON.stringify({ ...json, verificationMaterial: { ...json.verificationMaterial, ...material } }))
  }

  test('signed with a bare key', async () => {
    expect(await judge.judge(without({ publicKey: { hint: 'key' } }))).toEqual(
      unverified('The bundle names a public key; only signatures with a certificate are accepted.'),
    )
  })

  test.each([
    ['with none', {}],
    ['with an empty one', { certificate: { rawBytes: '' } }],
    [
      'with a chain, which version 0.3 does not have',
      { x509CertificateChain: { certificates: [{ rawBytes: 'AAAA' }] } },
    ],
  ])('%s', async (_, material) => {
    expect(await judge.judge(without(material))).toEqual(unverified('The Sigstore bundle is malformed.'))
  })

  test('with one that is none', async () => {
    expect(await judge.judge(without({ certificate: { rawBytes: 'AAAA' } }))).toEqual(
      unverified('A certificate, timestamp or log entry in the bundle is malformed.'),
    )
  })

  test('with one of more than 16 KiB', async () => {
    const rawBytes = Buffer.alloc(16_385, 0x30).toString('base64')
    expect(await judge.judge(without({ certificate: { rawBytes } }))).toEqual(
      unverified('The certificate or a timestamp in the bundle is larger than 16 KiB.'),
    )
  })
})

test('no change of a bundle makes it throw, hang, or name another signer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(bundle.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      async (changes) => {
        const changed = Uint8Array.from(bundle)
        for (const [at, value] of changes) changed[at] = value
        expectVerdict(await judge.judge(changed))
      },
    ),
    { numRuns: depth({ ci: 300, deep: 20_000 }) },
  )
})

test('no change of the certificate makes it throw, hang, or name another signer', async () => {
  const json = JSON.parse(Buffer.from(bundle).toString()) as {
    verificationMaterial: { certificate: { rawBytes: string } }
  }
  const der = Buffer.from(json.verificationMaterial.certificate.rawBytes, 'base64')
  await fc.assert(
    fc.asyncProperty(fc.nat(der.length - 1), fc.nat(255), async (at, value) => {
      const changed = Buffer.from(der)
      changed[at] = value
      json.verificationMaterial.certificate.rawBytes = changed.toString('base64')
      expectVerdict(await judge.judge(json))
    }),
    { numRuns: depth({ ci: 300, deep: 20_000 }) },
  )
})

/** Bytes that nothing signs, such as the tag around a signature, may change; the signer may not. */
function expectVerdict(verdict: Verdict): void {
  if (verdict.verdict === 'verified') expect(verdict).toEqual(VERIFIED)
  else expect(verdict.reason).toMatch(/^[A-Z][^\n]*\.$/)
}
