import { chmod, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { agentError, reasonOf, systemCode } from '../errors.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { UNIT_MARKER } from './unit-text.ts'
import { makeFolder } from '../../files/make-folder.ts'

/** The file of a unit. */
export interface UnitFile {
  readonly path: string
  /** Its text; undefined where there is none. @throws CliError where another program or person wrote it. */
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
  remove(): Promise<void>
}

/** Opens the file of the unit in the folder of the administrator. */
export function createUnitFile(folder: string, unit: string): UnitFile {
  const path = join(folder, unit)
  return {
    path,
    async read() {
      const text = await textOf(path)
      if (text === undefined || text.startsWith(UNIT_MARKER)) return text
      throw agentError('unit_taken', `${path} was not written by "ctl agent install", and was not touched`, {
        exitCode: EXIT.conflict,
        hints: ['Move it away, or use a state folder of another name: --state-dir /var/lib/ctl-agent-NAME'],
      })
    },
    async write(text) {
      try {
        makeFolder(folder, 0o755)
        await replace(path, text)
      } catch (error) {
        throw agentError('unit_not_written', `${path} could not be written: ${reasonOf(error)}`, { cause: error })
      }
    },
    remove: () => rm(path, { force: true }),
  }
}

/** The texts of all units of agents in that folder. */
export async function agentUnits(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  })
  const texts = names.filter((name) => /^ctl-agent.*\.service$/.test(name)).map((name) => textOf(join(folder, name)))
  return (await Promise.all(texts)).filter((text) => text !== undefined)
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

async function replace(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}`
  try {
    const file = await open(next, 'w', 0o644)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(next, 0o644)
    await rename(next, path)
  } finally {
    await rm(next, { force: true })
  }
}
