import { pino, type Logger } from 'pino'
import type { LogLevel } from '../config/values.ts'
import { createLogSampling } from './sampled-log.ts'

/** Where text goes: stdout or stderr. */
export interface TextSink {
  readonly isTty: boolean
  write(text: string): void
}

/**
 * The server's log on stderr: JSON lines for machines, one readable line each for a person at a terminal. Nothing
 * that holds a credential is ever handed to it. Records of info to error are sampled, unless the level is debug or trace:
 * a person who looks closely gets every record. `flush` writes the counts of what was left out so far.
 */
export function createLog(level: LogLevel, stderr: TextSink): Logger {
  const write = stderr.isTty ? (line: string) => stderr.write(readable(line)) : (line: string) => stderr.write(line)
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: LABELS } as const
  if (level === 'debug' || level === 'trace') return pino(options, { write })
  const { logMethod, flush } = createLogSampling()
  // pino hands `flush` on to its destination.
  return pino({ ...options, hooks: { logMethod } }, Object.assign({ write }, { flush }))
}

const LABELS = { level: (label: string) => ({ level: label }) }

interface LogRecord {
  readonly level: string
  readonly time: string
  readonly msg?: string
  readonly err?: { readonly stack?: string }
  readonly [member: string]: unknown
}

/** `12:01:02 warn  what happened  member=value`, and the stack below it. */
function readable(line: string): string {
  const { level, time, msg = '', err, ...rest } = JSON.parse(line) as LogRecord
  const members = Object.entries(rest).map(([name, value]) => `${name}=${wordOf(value)}`)
  const stack = err?.stack === undefined ? '' : `\n${err.stack}`
  return `${[time.slice(11, 19), level.padEnd(5), msg, ...members].join(' ')}${stack}\n`
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
