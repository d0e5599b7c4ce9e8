import { BootError } from '../ports/boot-error.ts'
import { ConfigError } from '../config/config-error.ts'
import { TokenFileError } from '../first-run/token-file.ts'
import type { TextSink } from '../composition/log.ts'
import { DatastoreError } from '../ports/datastore.ts'

/**
 * Prints on stderr why a server command failed: one sentence for what an operator can fix, all details for a bug.
 * @returns the exit code
 */
export function explainFailure(command: string, error: unknown, stderr: TextSink): 1 | 2 | 8 {
  const known = translate(error)
  if (known === undefined) {
    const whole = error instanceof Error ? (error.stack ?? error.message) : String(error)
    stderr.write(`ctl ${command} failed: ${whole}\n`)
    return 1
  }
  stderr.write(`ctl ${command}: ${known.message}\n`)
  return known.exitCode
}

function translate(error: unknown): ConfigError | BootError | undefined {
  if (error instanceof ConfigError || error instanceof BootError) return error
  if (error instanceof TokenFileError) return tokenFileRefusal(error)
  if (error instanceof DatastoreError && error.failure === 'unavailable')
    return new BootError(8, 'The datastore stopped answering during the start; start again once it is back.')
  if (error instanceof DatastoreError && error.failure === 'readonly')
    return new BootError(
      8,
      'The datastore takes no writes; free its disk or lift its read-only mode, then start again.',
    )
  return undefined
}

function tokenFileRefusal({ code, path, content }: TokenFileError): BootError {
  const advice = code === 'EEXIST' ? 'move the file that is there away' : 'make its directory writable'
  if (content === 'initial password')
    return new BootError(1, `The one-time password of admin cannot be written to ${path} (${code}): ${advice}.`)
  return new BootError(
    1,
    `The bootstrap token cannot be written to ${path} (${code}): ${advice}, or name another with --bootstrap-token-file.`,
  )
}
