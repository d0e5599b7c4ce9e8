import { createHash } from 'node:crypto'

/** The program that an agent runs, as it reports it. */
export interface Binary {
  readonly version: string
  /** SHA-256, 64 hex digits. */
  readonly checksum: string
  /** What the checksum should be: another one where the agent reports a wrong one. */
  readonly expected_checksum: string
  readonly architecture: string
}

/** What agents run that have not been upgraded. */
export interface StartBinaries {
  readonly version: string
  readonly checksum: string
  /** One after the other, by the place of an agent in the fleet. */
  readonly architectures: readonly string[]
}

/** As the API takes them. */
export const CHECKSUM = /^[0-9a-f]{64}$/
export const ARCHITECTURE = /^[a-z0-9][a-z0-9._-]{0,63}$/

const VERSION = 'agent-sim'

/** What agents run without flags and scenario. */
export const DEFAULT_BINARIES: StartBinaries = {
  version: VERSION,
  checksum: sha256(VERSION),
  architectures: ['x86_64'],
}

/** The binary of an agent that has not been upgraded. */
export function startBinary({ version, checksum, architectures }: StartBinaries, place: number): Binary {
  const architecture = architectures[place % architectures.length] ?? ''
  return { version, checksum, expected_checksum: checksum, architecture }
}

/** Whether the agent runs something else than its version. */
export function isAltered({ checksum, expected_checksum: expected }: Binary): boolean {
  return checksum !== expected
}

/** SHA-256 of a text, 64 hex digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
