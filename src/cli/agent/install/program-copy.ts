import { createHash } from 'node:crypto'
import { chmod, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { builtFile } from '../../../shared/package-files.ts'
import { agentError, reasonOf, systemCode } from '../errors.ts'
import { distrustOf } from './trusted-file.ts'
import { makeFolder } from '../../files/make-folder.ts'

/** A file of the copy: its path in the folder of the copy, which is its path in the package. */
interface ProgramFile {
  readonly path: string
  readonly bytes: Buffer
}

/** The one file that the service runs, in a copy. */
const MAIN = 'dist/agent/ctl-agent.cjs'

/** Where the files of a copy are read, by their path in the copy. */
export type ProgramSources = readonly (readonly [path: string, source: URL])[]

/** The files of the agent: the program, which needs no other one, and the licences of what is in it. */
export function builtProgram(): ProgramSources {
  return [
    [MAIN, builtFile('agent/ctl-agent.cjs')],
    ['dist/agent/LICENSES.txt', builtFile('agent/LICENSES.txt')],
  ]
}

async function readAll(sources: ProgramSources): Promise<readonly ProgramFile[]> {
  try {
    return await Promise.all(sources.map(async ([path, source]) => ({ path, bytes: await readFile(source) })))
  } catch (error) {
    throw agentError('program_incomplete', `this copy of ctl is not complete: ${reasonOf(error)}`, {
      hints: ['Install the package again (npx ctl-mesh), or build it: npm run build'],
      cause: error,
    })
  }
}

/** What is copied, and where to. */
export interface CopyOptions {
  readonly sources: ProgramSources
  readonly root: string
  readonly version: string
}

/** A copy in the folder of the system. */
export interface ProgramCopy {
  /** The path of the file that the service runs. */
  readonly main: string
  readonly folder: string
}

/**
 * Copies the agent's program, so that neither npm nor the end of its cache changes it while it runs. A copy has a folder of its
 * own, named after the version and the content: it appears whole and is never changed.
 *
 * @throws CliError where the folder can be changed by others than root, or cannot be written.
 */
export async function copyProgram({ sources, root, version }: CopyOptions): Promise<ProgramCopy> {
  const files = await readAll(sources)
  const folder = join(root, `${version}-${digestOf(files)}`)
  const copy = { folder, main: join(folder, MAIN) }
  try {
    makeFolder(root, 0o755)
    const distrust = await distrustOf(root)
    if (distrust !== undefined)
      throw agentError('program_not_copied', `the agent cannot be copied to ${root}: ${distrust}`, {
        hints: ['Give the folder to root: chown root:root and chmod go-w'],
      })
    if (await isWhole(folder, files)) return copy
    await writeCopy(root, folder, files)
    return copy
  } catch (error) {
    if (systemCode(error) === '') throw error
    throw agentError('program_not_copied', `the agent cannot be copied to ${folder}: ${reasonOf(error)}`, {
      hints: ['Free space there, or lift the read-only mode of that disk. Nothing else was changed.'],
      cause: error,
    })
  }
}

const COPY = /^[0-9][0-9A-Za-z.+-]*-[0-9a-f]{12}$/

/** Removes the copies that no unit uses. `used` are texts of units. */
export async function removeUnusedCopies(root: string, used: readonly string[]): Promise<void> {
  const names = await readdir(root).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  })
  const unused = names.filter((name) => COPY.test(name) && !used.some((text) => text.includes(`${join(root, name)}/`)))
  for (const name of unused) await rm(join(root, name), { recursive: true, force: true })
}

function digestOf(files: readonly ProgramFile[]): string {
  const hash = createHash('sha256')
  for (const { path, bytes } of files) hash.update(`${path} ${bytes.length}\n`).update(bytes)
  return hash.digest('hex').slice(0, 12)
}

async function isWhole(folder: string, files: readonly ProgramFile[]): Promise<boolean> {
  const same = files.map(async ({ path, bytes }) => {
    const found = await readFile(join(folder, path)).catch(() => undefined) // One that cannot be read is written again.
    return found?.equals(bytes) === true
  })
  return (await Promise.all(same)).every((is) => is)
}

async function writeCopy(root: string, folder: string, files: readonly ProgramFile[]): Promise<void> {
  const next = join(root, `.next-${process.pid}`)
  await rm(next, { recursive: true, force: true })
  try {
    for (const file of files) await writeFile(next, file)
    // One that is there has other content than its name says: it was damaged.
    await rm(folder, { recursive: true, force: true })
    await rename(next, folder)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
}

/** The umask of the caller does not matter: services of other users read nothing here, and root alone writes. */
async function writeFile(folder: string, { path, bytes }: ProgramFile): Promise<void> {
  const target = join(folder, path)
  makeFolder(dirname(target))
  for (let part = dirname(target); part !== dirname(folder); part = dirname(part)) await chmod(part, 0o755)
  const file = await open(target, 'wx', 0o644)
  try {
    await file.chmod(0o644)
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}
