/**
 * An error in the server's configuration, in one sentence that names the place and the remedy.
 * Exit code 2 for the command line itself (usage), 1 for the environment, the file and combinations of settings.
 */
export class ConfigError extends Error {
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.name = 'ConfigError'
    this.exitCode = exitCode
  }
}
