import { beforeAll, describe, expect, test } from 'vitest'
import type { Signer } from '@sigstore/verify'
import { identityOf } from '../../../../../src/server/adapters/sigstore/certificate-identity.ts'
import { createReleaseJudge, type ReleaseJudge } from '../../../../support/sigstore/release-judge.ts'

const ISSUER = 'https://token.actions.githubusercontent.com'
const IDENTITY = 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v1.5.0'

let judge: ReleaseJudge

beforeAll(async () => {
  judge = await createReleaseJudge()
})

describe('a signer is compared exactly', () => {
  test.each([
    ['something before it', `https://evil.example/${IDENTITY}`],
    ['a scheme that contains it', `evil-${IDENTITY}`],
    ['something behind it', `${IDENTITY}-evil`],
    ['a path behind it', `${IDENTITY}/../../evil`],
    ['another character where a regular expression has a dot', IDENTITY.replace('github.com', 'githubxcom')],
    ['another case', IDENTITY.replace('example', 'Example')],
    ['the tag of another version', IDENTITY.replace('v1.5.0', 'v1.5.1')],
    ['a branch in place of the tag', IDENTITY.replace('refs/tags/v1.5.0', 'refs/heads/main')],
    ['the hole itself', IDENTITY.replace('1.5.0', '{version}')],
  ])('an identity with %s is refused', async (_, identity) => {
    expect(await judge.attested({ identity })).toEqual({
      verdict: 'unverified',
      reason: `It is signed by ${identity} of issuer ${ISSUER}, which is none of the release signers.`,
    })
  })

  test.each([
    ['another issuer', 'https://accounts.example.com'],
    ['an issuer that contains it', `${ISSUER}.example.com`],
    ['a slash behind it', `${ISSUER}/`],
  ])('the identity of %s is refused', async (_, issuer) => {
    expect(await judge.attested({ issuer })).toEqual({
      verdict: 'unverified',
      reason: `It is signed by ${IDENTITY} of issuer ${issuer}, which is none of the release signers.`,
    })
  })

  test('the issuer of one signer does not prove the identity of another', async () => {
    const signers = [
      { issuer: ISSUER, identity: 'https://github.com/example/one' },
      { issuer: 'https://accounts.example.com', identity: 'https://github.com/example/two' },
    ]
    const crossed = await createReleaseJudge(signers)
    expect(await crossed.attested({ issuer: ISSUER, identity: 'https://github.com/example/two' })).toMatchObject({
      verdict: 'unverified',
    })
    expect(await crossed.attested({ issuer: ISSUER, identity: 'https://github.com/example/one' })).toEqual({
      verdict: 'verified',
      signedBy: 'https://github.com/example/one',
    })
  })

  test('a configured identity is not a regular expression', async () => {
    const pattern = await createReleaseJudge([{ issuer: ISSUER, identity: 'https://github.com/.*' }])
    expect(await pattern.attested()).toMatchObject({ verdict: 'unverified' })
  })

  test('a long identity is abridged in the reason', async () => {
    const identity = `https://github.com/${'a'.repeat(1000)}`
    const { reason } = (await judge.attested({ identity })) as { reason: string }
    expect(reason.length).toBeLessThan(400)
  })
})

describe('a version is put in place of the hole', () => {
  test.each(['2.0.0', '1.5.0-rc.1', '1.5.0+build.7'])('%s', async (version) => {
    const identity = `https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v${version}`
    expect(await judge.attested({ identity }, { version })).toEqual({ verdict: 'verified', signedBy: identity })
  })

  test('only where it is a semantic version', async () => {
    const identity = 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v1.5.0/x'
    expect(await judge.attested({ identity }, { version: '1.5.0/x' })).toMatchObject({ verdict: 'unverified' })
  })

  test('in every hole', async () => {
    const twice = await createReleaseJudge([{ issuer: ISSUER, identity: 'https://example.com/{version}/v{version}' }])
    expect(await twice.attested({ identity: 'https://example.com/1.5.0/v1.5.0' })).toMatchObject({
      verdict: 'verified',
    })
    expect(await twice.attested({ identity: 'https://example.com/1.5.0/v1.5.1' })).toMatchObject({
      verdict: 'unverified',
    })
  })
})

describe('a document', () => {
  const document = Buffer.from('{"serial":7}')
  const judged = async (identity: string, kind: 'dsse' | 'message' = 'message') =>
    judge.verifier.judgeDocument(document, await judge.world.attest({ binary: document, kind, identity }))
  const signer = 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v'

  test.each(['1.5.0', '0.0.1', '2.0.0-rc.1+build.7'])(
    'may be signed by the signer of any version: %s',
    async (version) => {
      expect(await judged(signer + version)).toEqual({ verdict: 'verified', signedBy: signer + version })
    },
  )

  test('may be the subject of a statement', async () => {
    expect(await judged(`${signer}1.5.0`, 'dsse')).toMatchObject({ verdict: 'verified' })
  })

  test.each([
    ['no version', signer],
    ['something that is no version', `${signer}main`],
    ['something behind the version', `${signer}1.5.0/evil`],
    ['something before the identity', `https://evil.example/?${signer}1.5.0`],
    ['a part of the identity', 'https://github.com/example/agent'],
  ])('is not verified where the certificate names %s', async (_, identity) => {
    expect(await judged(identity)).toMatchObject({ verdict: 'unverified' })
  })

  test('is not verified by the signature over another document', async () => {
    const bundle = await judge.world.attest({ binary: document, kind: 'message', identity: `${signer}1.5.0` })
    expect(await judge.verifier.judgeDocument(Buffer.from('{"serial":8}'), bundle)).toEqual({
      verdict: 'unverified',
      reason: 'The signature is for another file.',
    })
  })

  test('needs the same version in every hole of an identity', async () => {
    const twice = await createReleaseJudge([{ issuer: ISSUER, identity: 'https://example.com/{version}/v{version}' }])
    const by = async (identity: string) =>
      twice.verifier.judgeDocument(document, await twice.world.attest({ binary: document, identity }))
    expect(await by('https://example.com/1.5.0/v1.5.0')).toMatchObject({ verdict: 'verified' })
    expect(await by('https://example.com/1.5.0/v1.5.1')).toMatchObject({ verdict: 'unverified' })
  })
})

describe('names in a certificate', () => {
  const issuer = [0x0c, 3, 0x69, 0x64, 0x70]
  /** Bytes of the two extensions as the library returns them. */
  const certificate = (names: readonly number[], issuedBy: readonly number[] = issuer): Signer => ({
    key: {} as Signer['key'],
    identity: {
      oids: [
        { oid: { id: [2, 5, 29, 17] }, value: Buffer.from(names) },
        { oid: { id: [1, 3, 6, 1, 4, 1, 57264, 1, 8] }, value: Buffer.from(issuedBy) },
      ],
    },
  })

  test('an address of mail is an identity', () => {
    expect(identityOf(certificate([0x30, 5, 0x81, 3, 0x61, 0x40, 0x62]))).toEqual({ issuer: 'idp', subject: 'a@b' })
  })

  test.each([
    ['two names', [0x30, 6, 0x86, 1, 0x61, 0x86, 1, 0x62]],
    ['no name', [0x30, 0]],
    ['a name of another kind', [0x30, 3, 0x82, 1, 0x61]],
    ['a byte above ASCII, which the library would read as another letter', [0x30, 3, 0x86, 1, 0xe1]],
    ['a zero byte', [0x30, 4, 0x86, 2, 0x61, 0]],
    ['a length that is not its own', [0x30, 4, 0x86, 3, 0x61, 0x62]],
    ['a longer form of a length than needed', [0x30, 4, 0x86, 0x81, 1, 0x61]],
    ['nothing at all', []],
  ])('%s is refused', (_, names) => {
    expect(() => identityOf(certificate(names))).toThrow(
      'The certificate does not have exactly one identity and issuer in ASCII.',
    )
  })

  test('an issuer that is no text is refused', () => {
    expect(() => identityOf(certificate([0x30, 3, 0x86, 1, 0x61], [0x04, 1, 0x61]))).toThrow(/exactly one identity/)
  })

  test('the issuer is read from the older extension where the newer is absent', () => {
    const signer = certificate([0x30, 3, 0x86, 1, 0x61])
    signer.identity?.oids?.splice(1, 1, { oid: { id: [1, 3, 6, 1, 4, 1, 57264, 1, 1] }, value: Buffer.from('idp') })
    expect(identityOf(signer)).toEqual({ issuer: 'idp', subject: 'a' })
  })
})
