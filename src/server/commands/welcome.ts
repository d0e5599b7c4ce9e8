import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import type { FirstRunOutcome } from '../first-run/first-run.ts'

/** The facts in the message that is printed once the server accepts requests. */
export interface Welcome {
  readonly url: string
  readonly opsUrl: string | undefined
  readonly version: string
  readonly config: Config
  readonly firstRun: FirstRunOutcome
  readonly isRecovered: boolean
  /** How to run the command line in the server's directory, e.g. `npx ctl`. */
  readonly command: string
  /** Of the first administrator, where it is to be shown. */
  readonly password?: string | undefined
}

const RECOVERED = 'The last run ended uncleanly; what it had acknowledged was recovered.'

/** The default server address of `ctl`. */
const DEFAULT_URL = 'http://127.0.0.1:7443'

/** The lines on stderr: the address, what was created, what to run next. */
export function welcome(facts: Welcome): string {
  const { url, opsUrl, version, config, firstRun, isRecovered, command } = facts
  const lines = [
    `ctl ${version} serves ${url}, ${storageWords(config)}.`,
    ...(opsUrl === undefined ? [] : [`Metrics are at ${opsUrl}/metrics.`]),
    ...(isRecovered ? [RECOVERED] : []),
    ...(firstRun === 'founded'
      ? ['First start: made the Domain default, a Project in it and a bootstrap identity.']
      : []),
    `The API is documented at ${url}/v1/docs.`,
    ...(config.isDev ? [] : signInLines(facts)),
    ...administratorLines(config, facts.password),
    ...(config.isDemo ? [`A simulated fleet of 50 nodes joins it now: ${command} status`] : []),
    'Stop it with Ctrl-C.',
  ]
  return `${lines.join('\n')}\n`
}

function storageWords({ storage }: Config): string {
  if (storage.kind === 'memory') return 'in memory: everything is gone when it stops'
  return storage.kind === 'postgres' ? 'with PostgreSQL' : `with its data in ${storage.directory}`
}

/** Only while the file exists: the operator who removed it knows how to sign in. */
function signInLines({ url, command, config: { bootstrapTokenFile: tokenFile } }: Welcome): string[] {
  if (!existsSync(tokenFile)) return []
  const where = url === DEFAULT_URL ? '' : ` --url ${url}`
  return ['Sign in from another terminal:', `  ${command} login${where} --with-token < ${quoted(tokenFile)}`]
}

/** Only until the password has been changed. */
function administratorLines(
  { initialPasswordFile, hasBundledProvider }: Config,
  password: string | undefined,
): string[] {
  if (password !== undefined) return [`Sign in in a browser as admin; the password for the first time is ${password}`]
  if (!hasBundledProvider || !existsSync(initialPasswordFile)) return []
  return [`Sign in in a browser as admin; the password for the first time is in ${quoted(initialPasswordFile)}`]
}

/** A path quoted for a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
