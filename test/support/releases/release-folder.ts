import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RELEASE_SIGNER, type SigstoreWorld } from '../sigstore/make-bundle.ts'

/** `--release-signers` of the world's own signer. */
export const SIGNERS = `${RELEASE_SIGNER.issuer} ${RELEASE_SIGNER.identity}`

/** A binary of a release, which is as good as another. */
const binaryOf = (version: string, architecture: string): Buffer => Buffer.from(`${version} ${architecture}`)

const ARCHITECTURES = ['aarch64', 'x86_64'] as const

interface FolderMembers {
  /** Members of `release.json` in place of the usual ones. */
  readonly description?: object
  readonly kind?: 'dsse' | 'message'
  /** Whose bundles they are, where it is not the version's own. */
  readonly attestedVersion?: string
  /** The binary of each architecture, where it is not the usual one. */
  readonly binary?: Buffer
  /** Whether the binaries are beside them. */
  readonly withBinaries?: boolean
}

/** Writes a release for `ctl admin artifacts import` into a new folder, with attestations of the world, and returns its path. */
export async function makeReleaseFolder(
  world: SigstoreWorld,
  version: string,
  members: FolderMembers = {},
): Promise<string> {
  const { description = {}, kind = 'dsse', attestedVersion = version, withBinaries = true } = members
  const binaryFor = (architecture: string): Buffer => members.binary ?? binaryOf(version, architecture)
  const folder = mkdtempSync(join(tmpdir(), 'ctl-release-'))
  const architectures = ARCHITECTURES.map((architecture) => ({
    architecture,
    checksum: createHash('sha256').update(binaryFor(architecture)).digest('hex'),
  }))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'release.json'), JSON.stringify({ version, architectures, ...description }))
  for (const architecture of ARCHITECTURES) {
    const binary = binaryFor(architecture)
    const bundle = await world.attest({ binary, kind, version: attestedVersion })
    writeFileSync(join(folder, `${architecture}.sigstore.json`), bundle)
    if (withBinaries) writeFileSync(join(folder, architecture), binary)
  }
  return folder
}
