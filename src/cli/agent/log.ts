import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'

/** The log of an agent. It has no key, no token and no secret. */
export interface Log {
  /** Writes one line with the time. Control characters are replaced, since texts of the server may be part of it. */
  line(text: string): void
  close(): void
}

/** A log file is renamed to `<name>.1` at this size, so that an agent keeps 8 MiB at most. */
const BYTES_MAX = 4 * 1024 * 1024

/** Opens the log file, and repeats its lines elsewhere where `echo` is given. A full disk loses lines and nothing else. */
export function openLog(path: string, { echo, bytesMax = BYTES_MAX }: LogOptions = {}): Log {
  let file = openSync(path, 'a', 0o600)
  let bytes = fstatSync(file).size
  let isClosed = false

  /** The former file stays open until there is a next one: the number of a closed file may be that of a socket by then. */
  function rotate(): void {
    // It is not there where another program has removed it, or where the last try could not make the next one.
    if (existsSync(path)) renameSync(path, `${path}.1`)
    const next = openSync(path, 'a', 0o600)
    closeSync(file)
    file = next
    bytes = 0
  }

  return {
    line(text) {
      const line = `${new Date().toISOString()} ${text.replaceAll(/\p{Cc}+/gu, ' ')}\n`
      echo?.(line)
      if (isClosed) return
      try {
        if (bytes + line.length > bytesMax) rotate()
        bytes += writeSync(file, line)
      } catch {
        // The log is on the same disk as the state: the failed write of the state is what reports a full disk.
      }
    },
    close() {
      isClosed = true
      closeSync(file)
    },
  }
}

/** Options of a log. */
export interface LogOptions {
  readonly echo?: ((line: string) => void) | undefined
  /** Size at which the file is renamed; 4 MiB when absent. */
  readonly bytesMax?: number
}
