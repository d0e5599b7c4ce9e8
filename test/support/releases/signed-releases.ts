import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSigstoreWorld, RELEASE_SIGNER } from '../sigstore/make-bundle.ts'
import { checksumOfRelease } from './add-release.ts'

const ARCHITECTURES = ['aarch64', 'x86_64']
/** The version in the identity that signs the index: any fits. */
const INDEX_SIGNER_VERSION = '1.0.0'

/**
 * Publishes releases, signed in a Sigstore instance of their own, in a folder. Returns the arguments of `ctl serve` with which a
 * server takes and verifies them.
 */
export async function publishSignedReleases(
  directory: string,
  versions: readonly string[],
): Promise<readonly string[]> {
  const world = await createSigstoreWorld()
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(directory, name), content)
  mkdirSync(directory, { recursive: true })
  const releases = []
  for (const version of versions) {
    const architectures = []
    for (const architecture of ARCHITECTURES) {
      const checksum = checksumOfRelease(version, architecture)
      const bundle = `${version}-${architecture}.sigstore.json`
      write(bundle, await world.attest({ version, checksum }))
      architectures.push({ architecture, checksum, bundle })
    }
    releases.push({ version, architectures })
  }
  const index = JSON.stringify({ serial: 1, releases })
  write('index.json', index)
  const checksum = createHash('sha256').update(index).digest('hex')
  write('index.json.sigstore.json', await world.attest({ version: INDEX_SIGNER_VERSION, checksum }))
  write('trusted-root.json', world.trustedRoot)
  return [
    '--release-signers',
    `${RELEASE_SIGNER.issuer} ${RELEASE_SIGNER.identity}`,
    '--sigstore-trusted-root',
    join(directory, 'trusted-root.json'),
    '--releases-source',
    directory,
  ]
}
