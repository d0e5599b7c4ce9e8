import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../errors.ts'

/** The interfaces with the alias of the node, also those that an earlier process left. */
export async function ownInterfaces(owner: string, folder = '/sys/class/net'): Promise<readonly string[]> {
  const names = await readdir(folder)
  const aliases = await Promise.all(names.map(async (name) => [name, await aliasIn(join(folder, name))] as const))
  return aliases.filter(([, alias]) => alias === `ctl ${owner}`).map(([name]) => name)
}

async function aliasIn(path: string): Promise<string | undefined> {
  try {
    return (await readFile(join(path, 'ifalias'), 'utf8')).trim()
  } catch (error) {
    // Gone since, or a file such as bonding_masters.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return undefined
    throw error
  }
}
