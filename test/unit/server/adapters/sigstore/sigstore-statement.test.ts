import { beforeAll, describe, expect, test } from 'vitest'
import { inTotoStatement } from '../../../../support/sigstore/make-bundle.ts'
import {
  BINARY,
  CHECKSUM,
  createReleaseJudge,
  unverified,
  VERIFIED,
  type ReleaseJudge,
} from '../../../../support/sigstore/release-judge.ts'

const OTHER = '0'.repeat(64)
const fits = { name: 'agent', digest: { sha256: CHECKSUM } }
const other = { name: 'agent', digest: { sha256: OTHER } }

let judge: ReleaseJudge

beforeAll(async () => {
  judge = await createReleaseJudge()
})

describe('a statement vouches for the release', () => {
  test.each([
    ['with one of two subjects', inTotoStatement([other, fits])],
    [
      'with a subject that has a digest of another algorithm as well',
      inTotoStatement([{ digest: { sha512: 'ab', sha256: CHECKSUM } }]),
    ],
    ['in version 0.1', { ...inTotoStatement([fits]), _type: 'https://in-toto.io/Statement/v0.1' }],
  ])('%s', async (_, statement) => {
    expect(await judge.attested({ statement })).toEqual(VERIFIED)
  })
})

describe('a statement does not vouch for the release', () => {
  const forAnother = 'The attestation is for another file: no subject has the checksum.'
  const noSha256 = 'No subject of the attestation has a SHA-256 digest.'
  const malformed = 'The in-toto statement in the attestation is malformed.'

  test.each([
    ['with the digest of another file', inTotoStatement([other]), forAnother],
    ['with a part of the digest', inTotoStatement([{ digest: { sha256: CHECKSUM.slice(0, 32) } }]), forAnother],
    ['with the digest in upper case', inTotoStatement([{ digest: { sha256: CHECKSUM.toUpperCase() } }]), forAnother],
    ['with the checksum under another algorithm', inTotoStatement([{ digest: { sha512: CHECKSUM } }]), noSha256],
    ['with the checksum as the name of a subject', inTotoStatement([{ name: CHECKSUM, digest: {} }]), noSha256],
    ['without subjects', inTotoStatement([]), malformed],
    ['whose subject has no digest', inTotoStatement([{ name: 'agent' }]), malformed],
    ['whose digests are a list', inTotoStatement([{ digest: [CHECKSUM] }]), malformed],
    [
      'whose digest is inherited',
      `{"_type":"https://in-toto.io/Statement/v1","predicateType":"x",
      "subject":[{"digest":{"__proto__":{"sha256":"${CHECKSUM}"}}}]}`,
      noSha256,
    ],
    ['of an unknown version', { ...inTotoStatement([fits]), _type: 'https://in-toto.io/Statement/v9' }, malformed],
    ['that is a list', [inTotoStatement([fits])], malformed],
    ['that is null', 'null', malformed],
    ['that is no JSON', `{"subject":`, malformed],
    ['that is nested without end', '['.repeat(200_000), malformed],
  ])('%s', async (_, statement, reason) => {
    expect(await judge.attested({ statement })).toEqual(unverified(reason))
  })

  test('where the envelope holds something else', async () => {
    expect(await judge.attested({ payloadType: 'application/json' })).toEqual(
      unverified('The signed envelope does not hold an in-toto statement.'),
    )
  })
})

test('attestations swapped between two architectures are not verified', async () => {
  const arm64 = Buffer.from('the agent 1.5.0 for arm64')
  const forAmd64 = await judge.world.attest({ version: '1.5.0', binary: BINARY })
  const forArm64 = await judge.world.attest({ version: '1.5.0', binary: arm64 })
  const swapped = unverified('The attestation is for another file: no subject has the checksum.')
  expect(await judge.judge(forAmd64)).toEqual(VERIFIED)
  expect(await judge.judge(forArm64)).toEqual(swapped)
})
