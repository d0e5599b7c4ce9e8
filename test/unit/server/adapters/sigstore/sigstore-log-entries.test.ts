import { beforeAll, describe, expect, test } from 'vitest'
import type { BundleJson } from '../../../../support/sigstore/make-bundle.ts'
import {
  BINARY,
  createReleaseJudge,
  unverified,
  type ReleaseJudge,
} from '../../../../support/sigstore/release-judge.ts'

let judge: ReleaseJudge
let bundle: BundleJson

beforeAll(async () => {
  judge = await createReleaseJudge()
  bundle = await judge.world.bundle({ version: '1.5.0', binary: BINARY })
})

type Entry = BundleJson['verificationMaterial']['tlogEntries'][number]

/** The bundle with other entries of the log. */
function withEntries(change: (entry: Entry) => readonly object[]): object {
  const { verificationMaterial } = bundle
  const [entry] = verificationMaterial.tlogEntries
  if (entry === undefined) throw new Error('the bundle has no entry')
  return { ...bundle, verificationMaterial: { ...verificationMaterial, tlogEntries: change(entry) } }
}

describe('an entry that is there twice is refused', () => {
  const twice = unverified('The bundle has the same entry of a transparency log twice.')

  test.each<[string, (entry: Entry) => readonly object[]]>([
    ['unchanged', (entry) => [entry, entry]],
    [
      'with another body at its place, written in another way',
      (entry) => [entry, { ...entry, logIndex: `0${entry.logIndex}`, canonicalizedBody: 'e30=' }],
    ],
    ['at another place', (entry) => [entry, { ...entry, logIndex: '7' }]],
    ['with another body at its place', (entry) => [entry, { ...entry, canonicalizedBody: 'e30=' }]],
  ])('%s', async (_, change) => {
    expect(await judge.judge(withEntries(change))).toEqual(twice)
  })
})

describe('an entry is refused', () => {
  test('where there is none', async () => {
    expect(await judge.judge(withEntries(() => []))).toEqual(
      unverified('The bundle has no entry of a transparency log.'),
    )
  })

  test.each([
    ['dsse', '0.0.2'],
    ['hashedrekord', '0.0.2'],
    ['hashedrekord', '0.0.1'],
    ['intoto', '0.0.1'],
    ['rfc3161', '0.0.1'],
  ])('of kind %s %s beside a statement', async (kind, version) => {
    expect(await judge.judge(withEntries((entry) => [{ ...entry, kindVersion: { kind, version } }]))).toEqual(
      unverified(`The entry of the transparency log is of kind ${kind} ${version}, which is not supported.`),
    )
  })

  test('of a kind beside a message signature that is for statements', async () => {
    const message = await judge.world.bundle({ version: '1.5.0', binary: BINARY, kind: 'message' })
    const text = JSON.stringify(message).replace('"kind":"hashedrekord"', '"kind":"dsse"')
    expect(await judge.judge(Buffer.from(text), { binary: BINARY })).toEqual(
      unverified('The entry of the transparency log is of kind dsse 0.0.1, which is not supported.'),
    )
  })

  test('of a kind that is no word, which the reason does not repeat', async () => {
    const kindVersion = { kind: '\u001b[31m<script>', version: '1' }
    expect(await judge.judge(withEntries((entry) => [{ ...entry, kindVersion }]))).toEqual(
      unverified('The entry of the transparency log is of an unknown kind, which is not supported.'),
    )
  })

  test('whose body is of another kind than it says', async () => {
    const kindVersion = { kind: 'intoto', version: '0.0.2' }
    expect(await judge.judge(withEntries((entry) => [{ ...entry, kindVersion }]))).toEqual(
      unverified('The entry of the transparency log is for another signature or another content.'),
    )
  })

  test('where there are more than eight', async () => {
    const many = withEntries((entry) => Array.from({ length: 9 }, (_, at) => ({ ...entry, logIndex: String(at) })))
    expect(await judge.judge(many)).toEqual(unverified('The bundle has more than 8 entries of transparency logs.'))
  })

  test.each<[string, (entry: Entry) => object]>([
    [
      'whose signed time was changed',
      (entry) => ({ ...entry, integratedTime: String(Number(entry.integratedTime) + 1) }),
    ],
    ['whose place was changed', (entry) => ({ ...entry, logIndex: '7' })],
    ['whose log is unknown', (entry) => ({ ...entry, logId: { keyId: 'AAAA' } })],
    ['whose promise is empty', (entry) => ({ ...entry, inclusionPromise: { signedEntryTimestamp: '' } })],
    [
      'whose proof is of another root',
      (entry) => {
        const envelope = entry.inclusionProof.checkpoint.envelope.replace(
          /\n1\n(.)/,
          (_, first) => `\n1\n${first === 'A' ? 'B' : 'A'}`,
        )
        return { ...entry, inclusionProof: { ...entry.inclusionProof, checkpoint: { envelope } } }
      },
    ],
  ])('%s', async (_, change) => {
    expect(await judge.judge(withEntries((entry) => [change(entry)]))).toEqual(
      unverified('No trusted transparency log has signed the log entry.'),
    )
  })
})

test.each(['(((.+)+)+)+!', '(', 'rekor.sigstore.test|x', 'a'.repeat(300)])(
  'the name of a log in a checkpoint is never used as a regular expression: %s',
  async (name) => {
    const forged = withEntries((entry) => {
      const envelope = entry.inclusionProof.checkpoint.envelope.replace(/— \S+/, `— ${name}`)
      return [{ ...entry, inclusionProof: { ...entry.inclusionProof, checkpoint: { envelope } } }]
    })
    expect(await judge.judge(forged)).toEqual(unverified('A checkpoint in the bundle has a malformed name of a log.'))
  },
)
