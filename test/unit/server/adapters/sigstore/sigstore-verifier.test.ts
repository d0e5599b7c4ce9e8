import { beforeAll, describe, expect, test } from 'vitest'
import { createSigstoreWorld, RELEASE_SIGNER } from '../../../../support/sigstore/make-bundle.ts'
import {
  BINARY,
  CHECKSUM,
  createReleaseJudge,
  unverified,
  VERIFIED,
  type ReleaseJudge,
} from '../../../../support/sigstore/release-judge.ts'
import { createSigstoreVerifier } from '../../../../../src/server/adapters/sigstore/sigstore-verifier.ts'

let judge: ReleaseJudge

beforeAll(async () => {
  judge = await createReleaseJudge()
})

describe('a bundle is verified', () => {
  test.each([
    ['whose statement is logged as dsse', { entryKind: 'dsse 0.0.1' }],
    ['whose statement is logged as intoto', { entryKind: 'intoto 0.0.2' }],
    ['whose time is from a timestamp authority', { time: 'timestamp' }],
  ] as const)('%s', async (_, attestation) => {
    expect(await judge.attested(attestation)).toEqual(VERIFIED)
  })

  test('whose signature is over the binary, where the binary is there', async () => {
    expect(await judge.attested({ kind: 'message' }, { binary: BINARY })).toEqual(VERIFIED)
  })
})

describe('a signature over the binary is not verified', () => {
  test('without the binary', async () => {
    expect(await judge.attested({ kind: 'message' })).toEqual(
      unverified('The signature is over the binary itself, which is not there to be compared.'),
    )
  })

  test('with a binary that does not have the checksum of the release', async () => {
    expect(await judge.attested({ kind: 'message' }, { binary: Buffer.from('another') })).toEqual(
      unverified('The binary does not have the checksum of the release.'),
    )
  })

  test('of another binary', async () => {
    expect(await judge.attested({ kind: 'message', binary: Buffer.from('another') }, { binary: BINARY })).toEqual(
      unverified('The signature is for another file.'),
    )
  })

  test('that names the digest of the binary but is over other bytes', async () => {
    const attestation = { kind: 'message', binary: Buffer.from('another'), checksum: CHECKSUM } as const
    expect(await judge.attested(attestation, { binary: BINARY })).toEqual(
      unverified('The signature does not match what was signed.'),
    )
  })

  test('with a digest other than SHA-256', async () => {
    const bundle = await judge.world.bundle({ version: '1.5.0', binary: BINARY, kind: 'message' })
    const text = JSON.stringify(bundle).replace('"SHA2_256"', '"SHA2_512"')
    expect(await judge.judge(Buffer.from(text), { binary: BINARY })).toEqual(
      unverified('The signature is not over a SHA-256 digest.'),
    )
  })
})

describe('what was tampered with is not verified', () => {
  test('a signature', async () => {
    const bundle = await judge.world.bundle({ version: '1.5.0', binary: BINARY })
    const text = JSON.stringify(bundle).replace(/"sig":"(.{20}).{4}/, '"sig":"$1AAAA')
    expect(await judge.judge(Buffer.from(text))).toEqual(
      unverified('The entry of the transparency log is for another signature or another content.'),
    )
  })

  test('a statement', async () => {
    const payload = Buffer.from(
      JSON.stringify({
        _type: 'https://in-toto.io/Statement/v1',
        subject: [{ name: 'agent', digest: { sha256: CHECKSUM } }],
        predicateType: 'https://slsa.dev/provenance/v1',
      }),
    ).toString('base64')
    const bundle = await judge.world.bundle({ version: '1.5.0', binary: Buffer.from('another') })
    const text = JSON.stringify(bundle).replace(/"payload":"[^"]*"/, `"payload":"${payload}"`)
    expect(await judge.judge(Buffer.from(text))).toEqual(
      unverified('The entry of the transparency log is for another signature or another content.'),
    )
  })

  test('a certificate in the place of another with the same identity', async () => {
    const bundle = await judge.world.bundle({ version: '1.5.0', binary: BINARY })
    const other = await judge.world.bundle({ version: '1.5.0', binary: BINARY })
    bundle.verificationMaterial.certificate = other.verificationMaterial.certificate
    expect(await judge.judge(bundle)).toEqual(unverified('The signature does not match what was signed.'))
  })
})

test('a bundle of another Sigstore instance is not verified', async () => {
  const other = await createSigstoreWorld()
  expect(await judge.judge(await other.attest({ version: '1.5.0', binary: BINARY }))).toEqual(
    unverified('The certificate was not issued by a trusted authority.'),
  )
})

test.each(['none', 'unknown'] as const)(
  'a certificate recorded by no trusted log is not accepted: %s',
  async (recordedBy) => {
    expect(await judge.attested({ recordedBy })).toEqual(
      unverified('No trusted certificate log has recorded the certificate.'),
    )
  },
)

test('a release without an attestation is not verified', async () => {
  expect(await judge.verifier.judge({ version: '1.5.0', checksum: CHECKSUM, bundle: undefined })).toEqual(
    unverified('There is no attestation.'),
  )
})

describe('the fingerprint', () => {
  const other = { issuer: 'https://accounts.example.com', identity: 'release@example.com' }

  test('is the same for the same signers in another order', () => {
    const { trustedRoot } = judge.world
    const first = createSigstoreVerifier({ signers: [RELEASE_SIGNER, other], trustedRoot })
    const second = createSigstoreVerifier({ signers: [other, RELEASE_SIGNER], trustedRoot })
    expect(first.fingerprint).toBe(second.fingerprint)
    expect(first.fingerprint).toMatch(/^[0-9a-f]{64}$/)
  })

  test('changes with the signers and with the trusted root', () => {
    const { trustedRoot } = judge.world
    const fingerprints = [
      createSigstoreVerifier({ signers: [RELEASE_SIGNER], trustedRoot }),
      createSigstoreVerifier({ signers: [other], trustedRoot }),
      createSigstoreVerifier({ signers: [RELEASE_SIGNER, other], trustedRoot }),
      createSigstoreVerifier({ signers: [RELEASE_SIGNER] }),
    ].map(({ fingerprint }) => fingerprint)
    expect(new Set(fingerprints).size).toBe(4)
  })
})
