import { open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MemberIdentity } from '../../client/agent/member.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import type { Binary } from './binary.ts'
import { makeFolder } from '../files/make-folder.ts'

/** The stored state of a simulated node, with which a later run resumes it. */
export interface NodeIdentity extends MemberIdentity {
  /** Absent if an earlier version stored the node. */
  readonly domain_id?: string
  /** Whether it joined with an ephemeral token; absent if unknown. */
  readonly is_ephemeral?: boolean
  /** What it runs; absent if an earlier version stored the node. */
  readonly binary?: Binary
}

/** Stores the nodes of a fleet between runs, in a file with mode 0600 because it contains secrets. */
export interface StateDirectory {
  /**
   * Nodes of the previous run; empty on the first one.
   *
   * @throws CliError if the file belongs to another server or is not a fleet file.
   */
  load(url: string): Promise<readonly NodeIdentity[]>
  /** Replaces the file atomically. */
  save(url: string, nodes: readonly NodeIdentity[]): Promise<void>
}

const FILE = 'fleet.json'

interface FleetFile {
  readonly format: 1
  readonly url: string
  readonly nodes: readonly NodeIdentity[]
}

/** Opens the directory, and creates it if it does not exist. */
export async function openStateDirectory(path: string): Promise<StateDirectory> {
  try {
    makeFolder(path, 0o700)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${path} cannot be written (${code})`, 'Name another folder with --state-dir.')
  }
  const file = join(path, FILE)
  return {
    async load(url) {
      if (!(await exists(file))) return []
      const fleet = parse(await readFile(file, 'utf8'), file)
      if (fleet.url !== url)
        throw unusable(`${file} holds a fleet of ${fleet.url}; give another --state-dir for ${url}`)
      return fleet.nodes
    },
    async save(url, nodes) {
      const fleet: FleetFile = { format: 1, url, nodes }
      const next = `${file}.${process.pid}`
      const handle = await open(next, 'w', 0o600)
      try {
        await handle.writeFile(JSON.stringify(fleet))
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(next, file)
    },
  }
}

/** The directory of a worker, below that of the fleet. */
export function workerDirectory(path: string, worker: number): string {
  return join(path, `worker-${worker}`)
}

const WORKER = /^worker-\d+$/

/** @throws CliError if the directory has a fleet of another number of processes: its nodes are divided among these. */
export async function assertWorkers(path: string, workers: number): Promise<void> {
  if (!(await exists(path))) return
  const names = await readdir(path)
  const workersStored = await Promise.all(
    names.filter((name) => WORKER.test(name)).map((name) => exists(join(path, name, FILE))),
  )
  const stored = names.includes(FILE) ? 1 : workersStored.filter(Boolean).length
  if (stored === 0 || stored === workers) return
  throw unusable(`${path} holds a fleet of --workers ${stored}; give that number, or another --state-dir`)
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

function unusable(message: string, cause?: unknown): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'state_dir_unusable', cause })
}

function parse(text: string, file: string): FleetFile {
  const refuse = (cause?: unknown) =>
    unusable(`${file} is not a fleet file of agent-sim; give another --state-dir`, cause)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(error)
  }
  const fleet = value as Partial<FleetFile> | null
  if (fleet?.format !== 1 || !Array.isArray(fleet.nodes) || typeof fleet.url !== 'string') throw refuse()
  return fleet as FleetFile
}
