import { stat } from 'node:fs/promises'
import { ProblemAnswer } from '../../client/failures.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { relative } from '../output/cells.ts'
import { memberOf, type Row } from '../output/members.ts'
import { serverState, type ServerState } from '../server-state.ts'
import type { Session } from '../session.ts'

/** What one look found, and what to do about it. */
interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly detail: string
  readonly advice: string
}

export const doctor = defineCommand({
  description: 'Exits 10 when it finds a problem; warnings alone exit 0.',
  uses: ['connection', 'output'],
  examples: ['ctl doctor', 'ctl doctor -o json --jq \'.[] | select(.status == "problem")\''],
  async run(session) {
    const findings = [...(await lookHere(session)), ...(await lookThere(session))]
    const isSeen = session.io.stdout.isTty
    await session.emit(findings, {
      columns: ['status', 'check', 'detail', ...(isSeen ? [] : ['advice'])],
      isUncut: true,
    })
    if (isSeen) for (const { check, advice } of findings) if (advice !== '') session.note(`${check}: ${advice}`)
    session.note(summary(findings))
    return findings.some(({ status }) => status === 'problem') ? EXIT.negative : EXIT.ok
  },
})

/** `No problems found, 1 warning.` */
function summary(findings: readonly Finding[]): string {
  const count = (of: Finding['status'], one: string): string => {
    const found = findings.filter(({ status }) => status === of).length
    return `${found === 0 ? 'no' : found} ${one}${found === 1 ? '' : 's'}`
  }
  const warnings = count('warning', 'warning')
  const text = `${count('problem', 'problem')} found${warnings.startsWith('no') ? '' : `, ${warnings}`}.`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail, advice: '' })
const problem = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: 'problem',
  detail,
  advice,
})
const warning = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: 'warning',
  detail,
  advice,
})

async function lookHere(session: Session): Promise<readonly Finding[]> {
  const { context, url } = await session.settings()
  return [
    context.value === undefined
      ? warning('context', 'none is in use', 'Sign in: ctl login --with-token < FILE')
      : ok('context', `${context.value} (from ${context.origin})`),
    await credentialsMode(session),
    isOpenHttp(url.value)
      ? problem('encryption', `${url.value} is plain HTTP beyond this machine`, 'Use https, or an encrypted tunnel.')
      : ok('encryption', url.value.startsWith('https:') ? 'TLS' : 'not needed on this machine'),
    ...shadows(session),
  ]
}

async function credentialsMode({ contexts: { credentialsPath } }: Session): Promise<Finding> {
  try {
    const { mode } = await stat(credentialsPath)
    const open = mode & 0o077
    return open === 0
      ? ok('credentials', `${credentialsPath} is yours alone`)
      : problem(
          'credentials',
          `${credentialsPath} can be read by others`,
          `chmod 600 ${credentialsPath}; then rotate the tokens in it`,
        )
  } catch {
    return { check: 'credentials', status: 'skipped', detail: `${credentialsPath} does not exist`, advice: '' }
  }
}

function isOpenHttp(url: string): boolean {
  return url.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(url)
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

async function lookThere(session: Session): Promise<readonly Finding[]> {
  const { url } = await session.settings()
  const server = await serverState(session)
  if (server.status === 'unreachable')
    return [
      problem(
        'server',
        `${url.value}: ${server.failure ?? ''}`,
        'Start one with "ctl serve", or choose another with --url or --context.',
      ),
    ]
  return [health(server), ...clock(server, session.io.nowMs()), ...(await credential(session))]
}

function health({ status, unwell, latencyMs }: ServerState): Finding {
  const why = Object.entries(unwell).map(([name, said]) => `${name}: ${said}`)
  if (status === 'ready') return ok('server', `ready in ${Math.round(latencyMs)} ms`)
  const detail = [status, ...why].join('; ')
  if (status === 'degraded') return warning('server', detail, 'It serves what it can; see its log.')
  return problem('server', detail, 'See its log; "ctl status --watch" shows when it is back.')
}

/** Every answer of the API carries its versions (S1 Versioning 5). */
function version(headers: Readonly<Record<string, string>>): readonly Finding[] {
  const said = headers['x-service-api-version']
  if (said === undefined)
    return [
      warning(
        'api',
        'the answer names no API version',
        'Is that a ctl server? A proxy may strip X-Service-API-Version.',
      ),
    ]
  return /current=v1\b/.test(said)
    ? [ok('api', said)]
    : [problem('api', said, 'This ctl speaks v1; install the one that fits the server.')]
}

/** The server refuses heartbeats and observations that are more than 60 s off (S0 Limits). */
const SKEW_MAX_SECONDS = 60

function clock({ answer }: ServerState, nowMs: number): readonly Finding[] {
  const at = Date.parse(answer?.headers['date'] ?? '')
  if (Number.isNaN(at)) return []
  const skew = Math.round((nowMs - at) / 1000)
  if (Math.abs(skew) <= 5) return [ok('clock', 'agrees with the server')]
  const detail = `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the server`
  const advice = 'Synchronise the clocks (NTP).'
  return [Math.abs(skew) > SKEW_MAX_SECONDS ? problem('clock', detail, advice) : warning('clock', detail, advice)]
}

async function credential(session: Session): Promise<readonly Finding[]> {
  try {
    const caller = await session.caller()
    const { headers, value } = await caller.call(session.operation('GetAuthWhoami'), {})
    const me = value as Row
    return [...version(headers), lifetime(me, session.io.nowMs()), ...bootstrap(me)]
  } catch (error) {
    if (!(error instanceof ProblemAnswer)) throw error
    return [problem('credential', `${error.detail} (${error.code})`, 'Sign in: ctl login --with-token < FILE')]
  }
}

/** Sooner than this, an expiry is worth a word. */
const SOON_MS = 14 * 86_400_000

function lifetime(me: Row, nowMs: number): Finding {
  const expires = memberOf(me, 'credential.expires_at')
  const who = `${String(me['display_name'])} (${String(me['subject'])})`
  if (typeof expires !== 'string') return ok('credential', `${who}, without expiry`)
  const detail = `${who}, expires ${relative(expires, nowMs)}`
  return Date.parse(expires) - nowMs < SOON_MS
    ? warning('credential', detail, 'Replace it: ctl tokens list; ctl tokens rotate NAME')
    : ok('credential', detail)
}

/** The token of the first start can do everything; it is meant for setting up (decisions: First run). */
function bootstrap(me: Row): readonly Finding[] {
  if (me['kind'] !== 'service-identity' || !/^bootstrap\b/i.test(String(me['display_name']))) return []
  return [
    warning(
      'bootstrap',
      'you are using the bootstrap token, which can do everything',
      'Create an identity with the roles it needs, issue its token with --for, then revoke this one.',
    ),
  ]
}
