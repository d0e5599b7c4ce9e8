import { ProblemAnswer, TransportFailure } from '../../../client/failures.ts'
import { relative } from '../../output/cells.ts'
import { memberOf, type Row } from '../../output/members.ts'
import { serverState, type ServerState } from '../../session/server-state.ts'
import type { Session } from '../../session/session.ts'
import { transportSentence } from '../../errors/transport-sentence.ts'
import { ok, problem, warning, type Finding } from './finding.ts'
import { lookAtDependencies } from './look-at-dependencies.ts'

/** What was found out about the server. */
export interface ServerFindings {
  readonly findings: readonly Finding[]
  /** What answers there is another server than one of ctl. */
  readonly isForeign: boolean
}

/** What the server says of itself, and of the credential. */
export async function lookThere(session: Session): Promise<ServerFindings> {
  const { url } = await session.settings()
  const server = await orFailure(() => serverState(session))
  if (server instanceof TransportFailure) return { findings: [foreign(url.value, server)], isForeign: true }
  if (server.status === 'unreachable')
    return { findings: [unreachable(url.value, server.failure ?? '')], isForeign: false }
  const nowMs = session.io.nowMs()
  const seen = [health(server), ...lookAtDependencies(server, nowMs), ...clock(server, nowMs)]
  const found = await orFailure(() => credential(session))
  if (!(found instanceof TransportFailure)) return { findings: [...seen, ...found], isForeign: false }
  if (found.fault !== 'unreadable') return { findings: [...seen, unasked(url.value, found)], isForeign: false }
  // What another server says of its health is not a finding.
  return { findings: [...(isKnownState(server) ? seen : []), foreign(url.value, found)], isForeign: true }
}

/** The result, or the failure of a call that got no usable answer. An interruption is thrown. */
async function orFailure<T>(ask: () => Promise<T>): Promise<T | TransportFailure> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof TransportFailure) || error.fault === 'aborted') throw error
    return error
  }
}

function isKnownState({ status }: ServerState): boolean {
  return ['ready', 'degraded', 'unhealthy'].includes(status)
}

function unasked(url: string, failure: TransportFailure): Finding {
  return problem('credential', transportSentence(url, failure), 'Try again, and see the log of the server.')
}

function foreign(url: string, what: TransportFailure): Finding {
  return problem('server', transportSentence(url, what), 'Choose another with --url or --context.')
}

function unreachable(url: string, failure: string): Finding {
  const advice = failure.includes('certificate')
    ? 'Mend the certificate first: see encryption.'
    : failure.includes('no answer')
      ? 'Is it overloaded, or does a firewall swallow what is sent?'
      : 'Start one with "ctl serve", or choose another with --url or --context.'
  return problem('server', `${url}: ${failure}`, advice)
}

function health({ status, dependencies, latencyMs }: ServerState): Finding {
  if (status === 'ready') return ok('server', `ready in ${Math.round(latencyMs)} ms`)
  const isExplained = dependencies.some(({ detail }) => detail !== undefined)
  if (status === 'degraded' && isExplained)
    return warning('server', status, 'It serves what it can without what is away.')
  if (status === 'degraded') return warning('server', status, 'It serves what it can; see its log.')
  return problem('server', status, 'See its log; "ctl status --watch" shows when it is back.')
}

/** Every answer of the API carries its versions (S1 Versioning 5). */
function version(headers: Readonly<Record<string, string>>): Finding {
  const said = headers['x-service-api-version']
  if (said === undefined)
    return warning(
      'api',
      'the answer names no API version',
      'Is that a ctl server? A proxy may strip X-Service-API-Version.',
    )
  if (!/current=v1\b/.test(said))
    return problem('api', said, 'This ctl speaks v1; install the one that fits the server.')
  return /latest=v1\b/.test(said)
    ? ok('api', said)
    : warning('api', said, 'The server knows a newer API; a newer ctl speaks it.')
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
  if (Math.abs(skew) <= SKEW_MAX_SECONDS) return [warning('clock', detail, advice)]
  return [problem('clock', `${detail}, which takes no heartbeat from so far off`, advice)]
}

async function credential(session: Session): Promise<readonly Finding[]> {
  try {
    const caller = await session.caller()
    const { headers, value } = await caller.call(session.operation('GetAuthWhoami'), {})
    const me = value as Row
    return [version(headers), lifetime(me, session.io.nowMs()), ...bootstrap(me)]
  } catch (error) {
    if (!(error instanceof ProblemAnswer)) throw error
    const advice = error.status === 401 ? 'Sign in: ctl login' : 'See the log of the server.'
    return [problem('credential', `${error.detail} (${error.code})`, advice)]
  }
}

/** Time before its expiry at which a token is warned of. */
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
