import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defaultDataDirectory } from '../../../shared/data-directory.ts'
import type { Session } from '../../session/session.ts'
import { isLoopback } from './loopback.ts'
import { ok, problem, skipped, warning, type Finding } from './finding.ts'

/** Of Node, as package.json says it. */
const NODE_MIN = [20, 19] as const

/** What can be seen without asking anybody. */
export async function lookHere(session: Session, dataDir: string | undefined): Promise<readonly Finding[]> {
  const { context } = await session.settings()
  return [
    node(session.version),
    context.value === undefined
      ? warning('context', 'none is in use', 'Sign in: ctl login')
      : ok('context', `${context.value} (from ${context.origin})`),
    await credentials(session),
    ...(await configuration(session)),
    ...shadows(session),
    ...(await dataDirectory(session, dataDir)),
  ]
}

function node(version: string): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const detail = `ctl ${version} on Node ${process.versions.node}`
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])
  return isOld ? problem('client', detail, `Use Node ${NODE_MIN.join('.')} or newer.`) : ok('client', detail)
}

/** The permission bits of a file; undefined when there is none. */
async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777
  } catch {
    return undefined
  }
}

async function credentials({ contexts: { credentialsPath } }: Session): Promise<Finding> {
  const mode = await modeOf(credentialsPath)
  if (mode === undefined) return skipped('credentials', `${credentialsPath} does not exist`)
  return (mode & 0o077) === 0
    ? ok('credentials', `${credentialsPath} is yours alone`)
    : problem(
        'credentials',
        `${credentialsPath} can be read by others`,
        `chmod 600 ${credentialsPath}; then rotate the tokens in it`,
      )
}

/** Anyone who can write the configuration can send your tokens to a server of theirs. */
async function configuration({ contexts: { configPath } }: Session): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const path of [configPath, dirname(configPath)]) {
    const mode = await modeOf(path)
    if (mode !== undefined && (mode & 0o022) !== 0)
      findings.push(problem('configuration', `${path} can be changed by others`, `chmod go-w ${path}`))
  }
  return findings
}

/** Environment variables that quietly win over the context. */
function shadows({ io: { env } }: Session): readonly Finding[] {
  const set = ['CTL_URL', 'CTL_TOKEN', 'CTL_TOKEN_FILE', 'CTL_CONTEXT'].filter((name) => env[name])
  if (set.length === 0) return []
  return [
    warning(
      'environment',
      `${set.join(', ')} win${set.length === 1 ? 's' : ''} over the context`,
      'Unset what is not meant: ctl config view --show-origin',
    ),
  ]
}

/** The files of a server on this machine: none of them is anybody else's business. */
async function dataDirectory(session: Session, given: string | undefined): Promise<readonly Finding[]> {
  const { url } = await session.settings()
  const directory = given ?? (isHere(url.value) ? usualDataDirectory(session.io) : undefined)
  if (directory === undefined) return []
  if ((await modeOf(directory)) === undefined)
    return given === undefined ? [] : [problem('storage', `${directory} cannot be seen`, 'Check the path.')]
  const findings: Finding[] = []
  for (const path of [directory, join(directory, 'master.key'), join(directory, 'bootstrap-token')]) {
    const mode = await modeOf(path)
    if (mode !== undefined && (mode & 0o077) !== 0)
      findings.push(problem('storage', `${path} can be read by others`, `chmod go-rwx ${path}`))
  }
  if (findings.length === 0) findings.push(ok('storage', `${directory} is closed to others`))
  return [...findings, ...(await bootstrapToken(directory))]
}

function isHere(url: string): boolean {
  return url.startsWith('unix:') || isLoopback(new URL(url).hostname)
}

function usualDataDirectory({ env, home }: Session['io']): string {
  const account = { uid: process.geteuid?.(), stateHome: env['XDG_STATE_HOME'], home }
  return env['SERVICE_DATA_DIR'] ?? defaultDataDirectory(account)
}

async function bootstrapToken(directory: string): Promise<readonly Finding[]> {
  const path = join(directory, 'bootstrap-token')
  if ((await modeOf(path)) === undefined) return []
  return [
    warning(
      'bootstrap',
      `${path} still holds the token of the first start, which can do everything`,
      'Once you have an identity of your own, revoke that token (ctl tokens revoke) and remove the file.',
    ),
  ]
}
