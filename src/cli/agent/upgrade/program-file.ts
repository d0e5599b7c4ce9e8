import { createReadStream } from 'node:fs'
import { copyFile, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { createHash } from 'node:crypto'
import { systemCode } from '../errors.ts'
import type { RunProgram } from '../system/run-program.ts'

/** The file that the agent runs from. An upgrade replaces it; the one before is kept for a rollback. */
export interface ProgramFile {
  readonly path: string
  /** SHA-256 of what it is now, 64 hex digits; undefined where there is none. */
  checksum(): Promise<string | undefined>
  /** Keeps a copy of what it is now, in the place of a copy that was kept before. */
  keep(): Promise<void>
  /** Makes it what was kept. */
  restore(): Promise<void>
  /** Starts it, and reads the version that it prints. Resolves with why it cannot be the agent; undefined where it can. */
  faultOf(version: string): Promise<string | undefined>
}

/** The one file of a release has this name. */
const NAME = 'ctl-agent.cjs'
const START_MS_MAX = 60_000

/** The file of this process; undefined where it is not the one file of a release, but a checkout or the whole command line. */
export async function ownProgram(options: {
  /** As the process was started with it. */
  readonly main: string | undefined
  /** Where the copy is kept. */
  readonly former: string
  readonly run: RunProgram
}): Promise<ProgramFile | undefined> {
  const { main, former, run } = options
  // Links are followed now: what they lead to is what runs.
  const path = main === undefined ? undefined : await realpath(main)
  if (path === undefined || basename(path) !== NAME) return undefined
  return {
    path,
    checksum: () => checksumOf(path),
    keep: () => copyWhole(path, former),
    async restore() {
      if ((await checksumOf(path)) !== (await checksumOf(former))) await copyWhole(former, path)
    },
    async faultOf(version) {
      // Before it runs as root.
      const untrusted = await untrustedBy(path)
      if (untrusted !== undefined) return untrusted
      const { exitCode, stdout } = await run(process.execPath, [path, '--version'], { timeoutMs: START_MS_MAX })
      if (exitCode !== 0) return `the new file does not start: it ends with status ${exitCode}`
      const found = /^ctl (\S+)\n$/.exec(stdout)?.[1]
      return found === version ? undefined : `the new file is version ${found ?? 'unknown'}, not ${version}`
    },
  }
}

const SHARED_WRITE = 0o022

/** Why another user could change the file before it runs as root; undefined: none can. What leads to it ran the agent before, too. */
async function untrustedBy(path: string): Promise<string | undefined> {
  const { uid, mode } = await stat(path)
  if (uid !== process.geteuid?.()) return `${path} belongs to another user`
  return (mode & SHARED_WRITE) === 0 ? undefined : `${path} can be written by other users: chmod go-w`
}

async function checksumOf(path: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The copy appears whole, with the mode of the other file, and is on disk by then. */
async function copyWhole(from: string, to: string): Promise<void> {
  const next = `${to}.${process.pid}`
  try {
    await copyFile(from, next)
    const file = await open(next, 'r+')
    try {
      await file.chmod((await stat(from)).mode & 0o777)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(next, to)
  } finally {
    await rm(next, { force: true })
  }
  const folder = await open(dirname(to), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
