import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { packageFile } from '../../../shared/package-files.ts'
import { BootError } from '../../ports/boot-error.ts'
import { readArchive } from './archive.ts'

/**
 * Path of the archive that a new datastore begins as: an initialised engine directory with this version's schema, shut
 * down cleanly.
 *
 * @throws BootError when the build has none.
 */
export function blankDatabaseFile(): string {
  const file = fileURLToPath(packageFile('dist/blank-database.tar.gz'))
  if (!existsSync(file))
    throw new BootError(1, 'The blank database is missing from the installation: install the package again.')
  return file
}

/**
 * The uncompressed archive, in one allocation of its length, which is in the last four bytes (RFC 1952, ISIZE). The system gets a block
 * of 31 MB back when it is freed; the default chunks of 16 KB fragment the heap, which then stays large.
 */
function unzip(file: string): Buffer {
  const zipped = readFileSync(file)
  return gunzipSync(zipped, { chunkSize: zipped.readUInt32LE(zipped.length - 4) + 1 })
}

/** Writes a blank database into a directory that does not exist yet. Nothing of it is synced. */
export function unpackBlankDatabase(file: string, directory: string): void {
  mkdirSync(directory, { mode: 0o700 })
  for (const { path, bytes } of readArchive(unzip(file))) {
    if (bytes === undefined) mkdirSync(join(directory, path), { mode: 0o700 })
    else writeFileSync(join(directory, path), bytes, { mode: 0o600 })
  }
}
