// Writes a directory as a tar archive (ustar): what `src/server/adapters/pglite/archive.ts` and the embedded engine read.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = 512

const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`

function headerOf(name, { isDirectory, size }) {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name for the archive`)
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write(octal(isDirectory ? 0o700 : 0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write(isDirectory ? '5' : '0', 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

function* blocksOf(directory, prefix) {
  const entries = readdirSync(directory, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const name = `${prefix}${entry.name}`
    const path = join(directory, entry.name)
    if (entry.isDirectory()) {
      yield headerOf(`${name}/`, { isDirectory: true, size: 0 })
      yield* blocksOf(path, `${name}/`)
    } else {
      const bytes = readFileSync(path)
      yield headerOf(name, { isDirectory: false, size: bytes.length })
      yield bytes
      yield Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)
    }
  }
}

/** The directory's contents, its own name left out. */
export function archiveOf(directory) {
  return Buffer.concat([...blocksOf(directory, ''), Buffer.alloc(2 * BLOCK)])
}
