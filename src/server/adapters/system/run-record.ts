import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownIdentity, stateOf, type ProcessIdentity } from '../pglite/process-identity.ts'

/** Record from which a later start learns whether this run ended cleanly, where the datastore cannot know. */
export interface RunRecord {
  /** Whether a run with the same directory went away without ending its record. */
  readonly wasAbandoned: boolean
  /** Ends the record: the run ended in order. */
  end(): void
}

const RECORD = /^run\.\d+$/

/**
 * Keeps a record of this run in the directory, and clears those of processes that are gone. Only informs: a directory
 * that cannot be written leaves no record.
 */
export function recordRun(directory: string): RunRecord {
  const path = join(directory, `run.${process.pid}`)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const abandoned = readdirSync(directory)
      .filter((name) => RECORD.test(name))
      .map((name) => join(directory, name))
      .filter(isAbandoned)
    for (const record of abandoned) rmSync(record, { force: true })
    writeFileSync(path, JSON.stringify(ownIdentity()), { mode: 0o600 })
    return { wasAbandoned: abandoned.length > 0, end: () => rmSync(path, { force: true }) }
  } catch {
    return { wasAbandoned: false, end: () => undefined }
  }
}

function isAbandoned(path: string): boolean {
  try {
    return stateOf(JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity) !== 'alive'
  } catch {
    return true // Cut short while it was written.
  }
}
