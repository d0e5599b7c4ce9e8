import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownIdentity, stateOf, type ProcessIdentity } from '../pglite/process-identity.ts'

/** Lets a later start detect whether this run ended cleanly, if the datastore cannot. */
export interface RunRecord {
  /** Whether an earlier run with the same directory did not end its record. */
  readonly wasAbandoned: boolean
  /** Deletes the record: the run ended cleanly. */
  end(): void
}

const RECORD = /^run\.\d+$/

/**
 * Writes a record of this run to the directory, and deletes those of processes that have ended. If the directory is not
 * writable there is no record, and no error.
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
