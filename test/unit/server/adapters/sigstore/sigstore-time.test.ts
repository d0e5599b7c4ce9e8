import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createReleaseJudge,
  unverified,
  VERIFIED,
  type ReleaseJudge,
} from '../../../../support/sigstore/release-judge.ts'

let judge: ReleaseJudge
/** When the certificate is issued. The authority's own begins now. */
let certifiedAt: Date

beforeAll(async () => {
  judge = await createReleaseJudge()
  certifiedAt = new Date(Date.now() + 60_000)
})

afterEach(() => {
  vi.useRealTimers()
})

const after = (minutes: number): Date => new Date(certifiedAt.getTime() + minutes * 60_000)

describe('a certificate that has expired since', () => {
  test.each(['log', 'timestamp'] as const)(
    'is accepted where the %s proves a time within its ten minutes',
    async (time) => {
      const bundle = await judge.world.attest({ version: '1.5.0', binary: Buffer.from('x'), certifiedAt, time })
      const checksum = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'
      vi.useFakeTimers({ toFake: ['Date'], now: after(60 * 24 * 30) })
      expect(await judge.judge(bundle, { checksum })).toEqual(VERIFIED)
    },
  )

  test('is not accepted without a proven time', async () => {
    expect(await judge.attested({ certifiedAt, time: 'none' })).toEqual(
      unverified('Nothing proves when it was signed: the log entry has no signed time, and there is no timestamp.'),
    )
  })

  test.each(['log', 'timestamp'] as const)('is not accepted where the %s proves a time after it', async (time) => {
    expect(await judge.attested({ certifiedAt, loggedAt: after(11), time })).toEqual(
      unverified('The certificate was not valid when the signature was made.'),
    )
  })

  test('is not accepted where the log proves a time before it', async () => {
    expect(await judge.attested({ certifiedAt, loggedAt: after(-0.5) })).toEqual(
      unverified('The certificate was not valid when the signature was made.'),
    )
  })
})

describe('a timestamp is refused', () => {
  const timestamped = () =>
    judge.world.bundle({ version: '1.5.0', binary: Buffer.from('x'), certifiedAt, time: 'timestamp' })
  const artifact = { checksum: '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881' }
  const refused = unverified('A timestamp is not from a trusted authority, is for another signature, or is repeated.')

  test('that is for another signature', async () => {
    const bundle = await timestamped()
    const other = await timestamped()
    bundle.verificationMaterial.timestampVerificationData = other.verificationMaterial.timestampVerificationData
    expect(await judge.judge(bundle, artifact)).toEqual(refused)
  })

  test('that is there twice', async () => {
    const bundle = await timestamped()
    const { rfc3161Timestamps } = bundle.verificationMaterial.timestampVerificationData
    rfc3161Timestamps.push(...rfc3161Timestamps)
    expect(await judge.judge(bundle, artifact)).toEqual(refused)
  })

  test('where there are more than eight', async () => {
    const bundle = await timestamped()
    const { rfc3161Timestamps } = bundle.verificationMaterial.timestampVerificationData
    for (let doubled = 0; doubled < 4; doubled++) rfc3161Timestamps.push(...rfc3161Timestamps)
    expect(await judge.judge(bundle, artifact)).toEqual(unverified('The bundle has more than 8 timestamps.'))
  })
})
