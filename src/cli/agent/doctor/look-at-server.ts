import { createTransport, type HttpAnswer } from '../../../client/transport.ts'
import { TransportFailure } from '../../../client/failures.ts'
import { ok, problem, skipped, warning, type Finding } from '../../commands/doctor/finding.ts'
import { transportSentence } from '../../errors/transport-sentence.ts'
import { wayBack } from '../way-back.ts'
import type { NodeFacts } from './doctor-facts.ts'

/** Longer than a healthy server takes. */
const TIMEOUT_MS = 10_000
/** The server refuses heartbeats of clocks that are off by more (S0 Limits). */
const SKEW_MS_MAX = 60_000
const SKEW_MS_SEEN = 5_000

/** Whether the server answers and is trusted, whether it accepts the node's key, and whether the clocks agree. Changes nothing. */
export async function lookAtServer({ state, userAgent, system }: NodeFacts): Promise<readonly Finding[]> {
  const { url, ca, pinned_ca: pinnedCa } = state.server
  const transport = createTransport({ url, ca, pinnedCa })
  const startMs = system.nowMs()
  try {
    const answer = await transport.exchange({
      method: 'GET',
      path: `/v1/nodes/${state.enrolment.node_id}/state`,
      headers: { authorization: `Bearer ${state.enrolment.nsk}`, 'user-agent': userAgent },
      timeoutMs: TIMEOUT_MS,
    })
    const endMs = system.nowMs()
    return [
      server(url, answer, endMs - startMs),
      key(answer, state.enrolment.name),
      clock(answer, (startMs + endMs) / 2),
    ]
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error
    const detail = transportSentence(url, error)
    return [problem('server', detail, adviceOn(error)), skipped('key', 'no answer'), skipped('clock', 'no answer')]
  } finally {
    transport.close()
  }
}

function adviceOn({ fault }: TransportFailure): string {
  if (fault === 'untrusted')
    return 'Its certificate is not one that this node trusts: restore it, or enrol again with --ca-sha256 or --ca-file.'
  return 'The tunnels stay up meanwhile. Start the server, or look at name resolution and the firewalls on the way.'
}

function server(url: string, answer: HttpAnswer, ms: number): Finding {
  const { status } = answer
  if (!isOfCtl(answer))
    return problem(
      'server',
      `what answers at ${url} is no ctl server (status ${status})`,
      'Look at the proxy before it.',
    )
  if (status >= 500) return warning('server', `${url} answers ${status}`, 'See its log; the tunnels stay up meanwhile.')
  return ok('server', `${url} answers in ${Math.round(ms)} ms`)
}

function isOfCtl({ headers }: HttpAnswer): boolean {
  return headers['x-service-api-version'] !== undefined
}

function key(answer: HttpAnswer, name: string): Finding {
  const { status, body } = answer
  if (!isOfCtl(answer)) return skipped('key', 'no answer of a ctl server')
  if (status === 200) return ok('key', 'the server accepts the key of this node')
  const code = codeOf(body)
  if (status === 401 || status === 403)
    return problem('key', `the server refuses the key of this node (${code})`, wayBack(code, name))
  return skipped('key', `the server answers ${status} (${code})`)
}

function codeOf(body: Buffer): string {
  try {
    const { code } = JSON.parse(body.toString('utf8')) as { readonly code?: unknown }
    return typeof code === 'string' && /^[a-z0-9_]{1,64}$/.test(code) ? code : 'no code'
  } catch {
    return 'no code'
  }
}

/** The `Date` of an answer has whole seconds, rounded down. */
function clock({ headers }: HttpAnswer, nowMs: number): Finding {
  const date = Date.parse(headers['date'] ?? '')
  if (Number.isNaN(date)) return skipped('clock', 'the answer has no date')
  const skewMs = nowMs - (date + 500)
  if (Math.abs(skewMs) <= SKEW_MS_SEEN) return ok('clock', 'agrees with the server')
  const detail = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the server`
  const advice = 'Synchronise the clocks (NTP).'
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return warning('clock', detail, advice)
  return problem('clock', `${detail}, which takes no heartbeat from so far off`, advice)
}
