import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import { publicGoodTrustedRoot } from '../../../../../src/server/adapters/sigstore/public-good-trusted-root.ts'
import { createSigstoreVerifier } from '../../../../../src/server/adapters/sigstore/sigstore-verifier.ts'
import { createSigstoreWorld, RELEASE_SIGNER } from '../../../../support/sigstore/make-bundle.ts'

interface Seeds {
  readonly [repository: string]: { readonly targets: Readonly<Record<string, string>> }
}

test('the packaged trusted root is the one that Sigstore publishes, as the development dependency has it', () => {
  const seeds = createRequire(import.meta.url)('@sigstore/tuf/seeds.json') as Seeds
  const published = seeds['https://tuf-repo-cdn.sigstore.dev']?.targets['trusted_root.json'] ?? ''
  expect(publicGoodTrustedRoot).toBe(Buffer.from(published, 'base64').toString())
})

test('the packaged trusted root is used where none is given', () => {
  expect(createSigstoreVerifier({ signers: [RELEASE_SIGNER] }).fingerprint).toBe(
    createSigstoreVerifier({ signers: [RELEASE_SIGNER], trustedRoot: Buffer.from(publicGoodTrustedRoot) }).fingerprint,
  )
})

describe('a trusted root is refused', () => {
  interface Root {
    readonly tlogs: { baseUrl: string; publicKey: { rawBytes: string; validFor: { start?: string } } }[]
    readonly ctlogs: object[]
    readonly certificateAuthorities: { certChain: { certificates: { rawBytes: string }[] } }[]
    mediaType: string
  }

  let text: string
  beforeAll(async () => {
    text = Buffer.from((await createSigstoreWorld()).trustedRoot).toString()
  })

  const faultOf = (root: string | Uint8Array): string => {
    try {
      createSigstoreVerifier({ signers: [RELEASE_SIGNER], trustedRoot: Buffer.from(root) })
    } catch (error) {
      return (error as Error).message
    }
    return 'none'
  }

  test.each([
    ['that is empty', '', 'is not JSON'],
    ['that is truncated', '{"mediaType":', 'is not JSON'],
    ['that is null', 'null', 'is not a trusted root of Sigstore: it is not an object'],
    ['that is a list', '[]', 'is not a trusted root of Sigstore: it is not an object'],
    ['that is an empty object', '{}', 'is not a trusted root of Sigstore: mediaType is missing or malformed'],
    [
      'that is a bundle',
      '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}',
      'is not a trusted root of Sigstore: mediaType is missing or malformed',
    ],
  ])('%s', (_, root, fault) => {
    expect(faultOf(root)).toBe(fault)
  })

  test('that is not UTF-8', () => {
    expect(faultOf(Buffer.from([0x7b, 0xff, 0x7d]))).toBe('is not JSON')
  })

  test.each<[string, (root: Root) => void, string]>([
    [
      'without transparency logs',
      (root) => root.tlogs.splice(0),
      'is not a trusted root of Sigstore: tlogs is missing or malformed',
    ],
    [
      'without certificate logs',
      (root) => root.ctlogs.splice(0),
      'is not a trusted root of Sigstore: ctlogs is missing or malformed',
    ],
    [
      'without authorities',
      (root) => root.certificateAuthorities.splice(0),
      'is not a trusted root of Sigstore: certificateAuthorities is missing or malformed',
    ],
    [
      'whose authority has no certificate',
      ({ certificateAuthorities: [first] }) => first?.certChain.certificates.splice(0),
      'is not a trusted root of Sigstore: certificateAuthorities.0.certChain.certificates is missing or malformed',
    ],
    [
      'whose log is valid since the beginning of time',
      ({ tlogs: [first] }) => delete first?.publicKey.validFor.start,
      'is not a trusted root of Sigstore: tlogs.0.publicKey.validFor.start is missing or malformed',
    ],
    [
      'whose key is none',
      ({ tlogs: [first] }) => Object.assign(first?.publicKey ?? {}, { rawBytes: 'AAAA' }),
      'has a key or a certificate that cannot be read',
    ],
    [
      'whose certificate is none',
      ({ certificateAuthorities: [first] }) => first?.certChain.certificates.splice(0, 1, { rawBytes: 'AAAA' }),
      'has a key or a certificate that cannot be read',
    ],
  ])('%s', (_, change, fault) => {
    const root = JSON.parse(text) as Root
    change(root)
    expect(faultOf(JSON.stringify(root))).toBe(fault)
  })

  test('only for a fault', () => {
    expect(faultOf(text)).toBe('none')
  })
})
