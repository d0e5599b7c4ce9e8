import { closeSync, fchmodSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs'

const LOG_BYTES_MAX = 1024 * 1024
const LOG_TAIL_BYTES = 2048
/** What OpenVPN prints after the reason. */
const ENDING = /^Exiting due to fatal error/

/** Opens the log of a program, to which it appends. Only its owner can read it. */
export function openLog(logFile: string): number {
  const log = openSync(logFile, 'a', 0o600)
  fchmodSync(log, 0o600)
  return log
}

/** Empties a log that is large: the program appends, so it goes on at the beginning. */
export function shortenLog(logFile: string): void {
  try {
    if (statSync(logFile).size > LOG_BYTES_MAX) truncateSync(logFile)
  } catch {
    // Without the file there is nothing to shorten.
  }
}

/** The last line that says something, at most 200 characters; empty where there is none. */
export function lastLogLine(logFile: string): string {
  try {
    const file = openSync(logFile, 'r')
    try {
      const tail = Buffer.alloc(LOG_TAIL_BYTES)
      const bytes = readSync(file, tail, { position: Math.max(0, fstatSync(file).size - LOG_TAIL_BYTES) })
      const lines = tail.toString('utf8', 0, bytes).trim().split('\n')
      return lines.findLast((line) => !ENDING.test(line))?.slice(0, 200) ?? ''
    } finally {
      closeSync(file)
    }
  } catch {
    // Without the file there is nothing to quote. Its path is named anyway.
    return ''
  }
}
