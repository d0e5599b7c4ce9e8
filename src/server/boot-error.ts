/**
 * Why the server does not start: one sentence that says what is wrong and what to do, fit for a terminal.
 *
 * Exit codes are those of the command line: 1 for what a person must mend (configuration, a wrong key, a newer
 * schema, a held directory), 8 for what may pass by itself (a database that is away).
 */
export class BootError extends Error {
  readonly exitCode: 1 | 8

  constructor(message: string, exitCode: 1 | 8, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'BootError'
    this.exitCode = exitCode
  }
}
