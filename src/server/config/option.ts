import type { Parsed } from './values.ts'

/** One setting of the server. Its flag, environment variable and file key derive from its name. */
export interface Option<T = unknown> {
  readonly parse: (text: string) => Parsed<T>
  /** Word for the value in help; absent for a switch. */
  readonly placeholder?: string
  /** The default; absent where `fallbackWords` describes what happens instead. */
  readonly fallback?: string
  readonly fallbackWords?: string
  /** For a stranger: one sentence without its period. */
  readonly describe: string
  /** The environment variable where it is not `SERVICE_` and the name. */
  readonly env?: string
  /** A switch that is on by default: its flag begins with `no-` and switches it off. */
  readonly isOn?: true
  /** Never taken from the command line, where every user of the machine can read it; says what to use instead. */
  readonly notInArgv?: string
}
