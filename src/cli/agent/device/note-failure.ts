import { appendFileSync } from 'node:fs'
import { reasonOf } from '../errors.ts'

/** Notes a failure in the log of the device, where an operator looks for the reason. One that cannot be written has none. */
export function noteFailure(logFile: string, what: string, error: unknown): void {
  try {
    appendFileSync(logFile, `${what} failed: ${reasonOf(error)}\n`)
  } catch {
    // The disk is full, or the folder is gone. The next try comes anyway.
  }
}
