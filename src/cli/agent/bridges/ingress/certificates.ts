import { X509Certificate } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../errors.ts'

/** The end of the newest certificate that Caddy has for a name, RFC 3339; undefined where it has none. */
export async function certificateEnd(folder: string, host: string): Promise<string | undefined> {
  const authorities = await namesIn(join(folder, 'certificates'))
  const ends = await Promise.all(
    authorities.map((authority) => endOf(join(folder, 'certificates', authority, host, `${host}.crt`))),
  )
  return ends
    .filter((end) => end !== undefined)
    .toSorted()
    .at(-1)
}

async function endOf(file: string): Promise<string | undefined> {
  const text = await textOf(file)
  if (text === undefined) return undefined
  try {
    return new Date(new X509Certificate(text).validTo).toISOString()
  } catch {
    // Caddy is writing it.
    return undefined
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error))
}
