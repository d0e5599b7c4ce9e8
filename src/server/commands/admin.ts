import { parseConfig, type Config } from '../config/config.ts'
import { explainFailure } from './explain-failure.ts'
import type { TextSink } from '../composition/log.ts'

/** A command that works while the server is stopped, or on its database, with the server's own configuration. */
export interface AdminCommand {
  /** As typed, e.g. `admin bootstrap-token`. */
  readonly name: string
  readonly help: string
}

/** Where it is run. */
export interface AdminCall {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: TextSink
  readonly stderr: TextSink
  /** Asks at the terminal without an echo; undefined for no answer. Absent where there is no terminal. */
  readonly askSecret?: (question: string) => Promise<string | undefined>
}

/** Runs the command, or shows its help. Resolves with the exit code; a failure prints one sentence on stderr. */
export async function runAdmin(
  { name, help }: AdminCommand,
  { argv, stdout, stderr }: AdminCall,
  work: () => Promise<void>,
): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(help)
    return 0
  }
  try {
    await work()
    return 0
  } catch (error) {
    return explainFailure(name, error, stderr)
  }
}

/** The server's configuration, from those arguments. @throws ConfigError */
export function configOf(argv: readonly string[], env: AdminCall['env']): Config {
  return parseConfig({ argv, env, uid: process.geteuid?.() })
}
