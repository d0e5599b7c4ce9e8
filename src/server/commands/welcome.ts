import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { urlFromHere } from '../composition/listen.ts'
import type { AuthorityFacts } from '../composition/served-tls.ts'
import type { FirstRunOutcome } from '../first-run/first-run.ts'

/** The facts in the message that is printed once the server accepts requests. */
export interface Welcome {
  readonly url: string
  readonly opsUrl: string | undefined
  readonly version: string
  readonly config: Config
  readonly firstRun: FirstRunOutcome
  readonly isRecovered: boolean
  /** The server's own certificate authority; undefined where it has none. */
  readonly authority?: AuthorityFacts | undefined
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
    ...(facts.authority === undefined ? [] : [authorityLine(facts.authority)]),
    ...(opsUrl === undefined ? [] : [`Metrics are at ${opsUrl}/metrics.`]),
    ...(isRecovered ? [RECOVERED] : []),
    ...(firstRun === 'founded'
      ? ['First start: made the Domain default, a Project in it and a bootstrap identity.']
      : []),
    `The console is at ${url}/v1/console/.`,
    `The API is documented at ${url}/v1/docs.`,
    ...(config.isDev ? [] : signInLines(facts)),
    ...administratorLines(config, facts.password),
    ...(config.isDemo ? [`A simulated fleet of 50 nodes joins it now: ${command} status`] : []),
    'Stop it with Ctrl-C.',
  ]
  return `${lines.join('\n')}\n`
}

function authorityLine({ sha256, path }: AuthorityFacts): string {
  return `Clients trust it with --ca-sha256 ${sha256}; the certificate is in ${quoted(path)}.`
}

function storageWords({ storage }: Config): string {
  if (storage.kind === 'memory') return 'in memory: everything is gone when it stops'
  return storage.kind === 'postgres' ? 'with PostgreSQL' : `with its data in ${storage.directory}`
}

/** Only while the file exists: the operator who removed it knows how to sign in. */
function signInLines({ url, command, authority, config: { bootstrapTokenFile: tokenFile } }: Welcome): string[] {
  if (!existsSync(tokenFile)) return []
  const here = urlFromHere(url)
  const where = here === DEFAULT_URL ? '' : ` --url ${here}`
  const trust = authority === undefined ? '' : ` --ca-sha256 ${authority.sha256}`
  return ['Sign in from another terminal:', `  ${command} login${where}${trust} --with-token < ${quoted(tokenFile)}`]
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
