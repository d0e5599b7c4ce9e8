import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSigstoreVerifier } from '../../../../../src/server/adapters/sigstore/sigstore-verifier.ts'

/** Where github.com/sigstore/sigstore-conformance is checked out. */
const checkout = process.env['CTL_TEST_SIGSTORE_CONFORMANCE']
const bundles = join(checkout ?? '', 'test/assets/bundle-verify')
const beacon = 'https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon'

/**
 * Cases that a verifier has to accept and that are accepted here. All but the last two are judged with the packaged
 * trusted root. The others have an entry of Rekor v2 or a bare key.
 */
const VERIFIED = [
  'happy-path-intoto-in-dsse-v3',
  'happy-path-v0.1',
  'happy-path-v0.2',
  'happy-path-v0.3',
  'happy-path-v0.3-new-mediaType',
  'intoto-with-custom-trust-root',
  'trust-root-tlog-validity-end-inclusive',
]
const NOT_ACCEPTED = /kind hashedrekord 0\.0\.2, which is not supported|names a public key/

const cases =
  checkout === undefined ? [] : readdirSync(bundles).filter((name) => contentOf(name, 'bundle.sigstore.json'))

function contentOf(name: string, file: string): Buffer | undefined {
  const path = join(bundles, name, file)
  return existsSync(path) ? readFileSync(path) : undefined
}

async function reasonOf(name: string): Promise<string | undefined> {
  const binary = contentOf(name, 'artifact') ?? readFileSync(join(bundles, 'a.txt'))
  const text = (file: string): string | undefined => contentOf(name, file)?.toString().trim()
  const signer = {
    issuer: text('issuer') ?? 'https://token.actions.githubusercontent.com',
    identity: text('identity') ?? `${beacon}/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main`,
  }
  const verdict = await createSigstoreVerifier({
    signers: [signer],
    trustedRoot: contentOf(name, 'trusted_root.json'),
  }).judge({
    version: '1.0.0',
    checksum: createHash('sha256').update(binary).digest('hex'),
    bundle: contentOf(name, 'bundle.sigstore.json'),
    binary,
  })
  return verdict.verdict === 'verified' ? undefined : verdict.reason
}

describe.skipIf(checkout === undefined)('the conformance cases of Sigstore at CTL_TEST_SIGSTORE_CONFORMANCE', () => {
  test.each(VERIFIED)('%s is verified', async (name) => {
    expect(await reasonOf(name)).toBeUndefined()
  })

  test.each(cases.filter((name) => !name.endsWith('_fail') && !VERIFIED.includes(name)))(
    '%s is of a kind that is not accepted',
    async (name) => {
      expect(await reasonOf(name)).toMatch(NOT_ACCEPTED)
    },
  )

  // A trusted root without the start of a log's validity does not open.
  test.each(cases.filter((name) => name.endsWith('_fail') && !name.startsWith('trust-root-')))(
    '%s is not verified',
    async (name) => {
      expect(await reasonOf(name)).toMatch(/^[A-Z].*\.$/)
    },
  )

  test.each(cases.filter((name) => /^trust-root-.*_fail$/.test(name)))('%s is refused', async (name) => {
    await expect(reasonOf(name)).rejects.toThrow('is not a trusted root of Sigstore')
  })
})
