import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import type { AdminRequest } from '../ports/admin-command.ts'
import { BootError } from '../ports/boot-error.ts'
import type { ReleaseImport } from '../releases/admin-commands.ts'
import { FileFault, openRegular, readBounded } from '../releases/bounded-file.ts'
import { architectureMembers, BUNDLE_BYTES_MAX, firstFaultOf, releaseMembers } from '../releases/release-content.ts'

const DESCRIPTION = 'release.json'
const DESCRIPTION_BYTES_MAX = 1024 * 1024
/** Of a binary whose bytes were signed, which goes to the server. */
const BINARY_BYTES_MAX = 256 * 1024 * 1024

/** Strict: a misspelt member of a file that somebody wrote would be lost silently. */
const Description = z.strictObject(releaseMembers(z.strictObject(architectureMembers)))

type DescribedArchitecture = z.infer<typeof Description>['architectures'][number]

/**
 * Reads a release from a folder: its description, an attestation for each architecture, and the binaries that are beside
 * them, which must be those that the description names.
 *
 * @throws BootError in one sentence
 */
export async function readReleaseFolder(directory: string): Promise<Omit<AdminRequest, 'command'>> {
  const { architectures: described, ...release } = await describedIn(directory)
  const attachments: Uint8Array[] = []
  const attach = (bytes: Uint8Array): number => attachments.push(bytes) - 1
  const architectures: ReleaseImport['architectures'] = []
  for (const one of described) {
    const { bundle, binary } = await filesOf(directory, one)
    const places = { bundle: attach(bundle), ...(binary !== undefined && { binary: attach(binary) }) }
    architectures.push({ ...one, ...places })
  }
  return { input: { ...release, architectures } satisfies ReleaseImport, attachments }
}

async function describedIn(directory: string): Promise<z.infer<typeof Description>> {
  const path = join(directory, DESCRIPTION)
  const parsed = Description.safeParse(jsonIn(path, await fileAt(path, DESCRIPTION_BYTES_MAX)))
  if (!parsed.success) throw new BootError(1, `${path} does not describe a release (${firstFaultOf(parsed.error)}).`)
  return parsed.data
}

function jsonIn(path: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new BootError(1, `${path} is not JSON.`, error)
  }
}

interface ReleaseFiles {
  readonly bundle: Buffer
  /** Where the signature is over its bytes. */
  readonly binary: Buffer | undefined
}

async function filesOf(directory: string, { architecture, checksum }: DescribedArchitecture): Promise<ReleaseFiles> {
  const bundle = await fileAt(join(directory, `${architecture}.sigstore.json`), BUNDLE_BYTES_MAX)
  const path = join(directory, architecture)
  const found = await checksumAt(path)
  if (found !== undefined && found !== checksum)
    throw new BootError(
      1,
      `${path} has the SHA-256 ${found}, and ${DESCRIPTION} names another one for ${architecture}.`,
    )
  const isNeeded = found !== undefined && bundle.includes('"messageSignature"')
  return { bundle, binary: isNeeded ? await fileAt(path, BINARY_BYTES_MAX) : undefined }
}

async function fileAt(path: string, bytesMax: number): Promise<Buffer> {
  try {
    return await readBounded(path, bytesMax)
  } catch (error) {
    throw explained(path, error)
  }
}

/** SHA-256 of the file in hex; undefined where there is none. */
async function checksumAt(path: string): Promise<string | undefined> {
  try {
    const file = await openRegular(path)
    const hash = createHash('sha256')
    for await (const chunk of file.createReadStream()) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch (error) {
    if (error instanceof FileFault && error.isMissing) return undefined
    throw explained(path, error)
  }
}

function explained(path: string, error: unknown): unknown {
  return error instanceof FileFault ? new BootError(1, `${path} ${error.message}.`, error) : error
}
