import type { Readable, Writable } from 'node:stream'
import type { TokenVault } from '../session/token-vault.ts'

/** Somewhere to write: stdout or stderr. */
export interface Sink {
  readonly isTty: boolean
  /** Width in columns; 80 when it is no terminal. */
  readonly columns: number
  /** Height in lines; 24 when it is no terminal. */
  readonly rows: number
  write(text: string): void
}

export interface Source {
  readonly isTty: boolean
  /** Everything until the end, as UTF-8. Where a number is given, reading stops once there are so many bytes. */
  text(bytesMax?: number): Promise<string>
}

/** Stdin and stdout as they are, for bytes that are no text. */
export interface ByteStreams {
  readonly input: Readable
  readonly output: Writable
}

/** Questions to a person. Answers `undefined` when the person leaves with Ctrl-C. */
export interface Prompter {
  confirm(question: string): Promise<boolean | undefined>
  input(question: string): Promise<string | undefined>
  /** Not echoed. */
  secret(question: string): Promise<string | undefined>
  choose(question: string, choices: readonly Choice[]): Promise<string | undefined>
}

export interface Choice {
  readonly value: string
  readonly name: string
}

/** All that a command may know of the process it runs in; tests bring their own. */
export interface Io {
  readonly stdin: Source
  readonly stdout: Sink
  readonly stderr: Sink
  /** Absent where the process is not the command's own. */
  bytes?(): ByteStreams
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  nowMs(): number
  /** Milliseconds since the process began; absent where the process is not the command's own. */
  elapsedMs?(): number
  /** Resolves after so many ms, or at once when interrupted. */
  sleep(ms: number): Promise<void>
  /** Aborted by Ctrl-C or SIGTERM. The first read of it takes over both. */
  readonly interrupted: AbortSignal
  /** Whether it was SIGTERM that interrupted. Reading it takes over nothing. */
  readonly isTerminated?: boolean
  prompter(): Promise<Prompter>
  /** The keyring of the operating system; absent, or undefined, where there is none. */
  vault?(): Promise<TokenVault | undefined>
  /** Shows an address in the person's browser; false where none could be started. Absent where there is nobody to show it to. */
  browse?(url: string): Promise<boolean>
  /** Ends the process although something of it still runs; absent where the process is not the command's own. */
  leave?(exitCode: number): void
}
