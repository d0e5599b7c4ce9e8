import { TransportFailure } from '../../client/failures.ts'
import type { HttpAnswer } from '../../client/transport.ts'
import { exactText } from '../output/cells.ts'
import { isRow, memberOf, type Row } from '../output/members.ts'
import type { Session } from './session.ts'

/** How a server is, as far as anybody may ask. */
export interface ServerState {
  /** `ready`, `degraded`, `unhealthy` (S1 Degradation 1), `unreachable`, or what was said instead. */
  readonly status: string
  readonly latencyMs: number
  /** Why it could not be asked. */
  readonly failure?: string
  readonly answer?: HttpAnswer
  /** Probes that are not well, by name. */
  readonly unwell: Readonly<Record<string, Unwell>>
  /** Everything that the server says to depend on, well or not, with a probe or without. */
  readonly dependencies: readonly ServerDependency[]
}

/** What the server says of one dependency. */
export interface ServerDependency {
  readonly name: string
  /** Why it is away; undefined where it is reachable. */
  readonly detail?: string
  /** Since when it is as it is, RFC 3339. */
  readonly since?: string
  /** What works without it, and what does not. */
  readonly meanwhile?: string
}

/** What a probe says that is not well. */
export interface Unwell {
  readonly detail: string
  /** RFC 3339. */
  readonly since?: string
  /** What still works and what does not. */
  readonly meanwhile?: string
}

/** Longer than this, a server counts as out of reach, unless --timeout says otherwise. */
const PATIENCE_MS = 5000

/** How long a look at the server may take, in ms. */
export async function patienceMs(session: Session): Promise<number> {
  const { timeoutSeconds } = await session.settings()
  return timeoutSeconds.origin === 'default' ? PATIENCE_MS : timeoutSeconds.value * 1000
}

/** Failures that say nothing of how a server is. */
const IS_NO_STATE: ReadonlySet<TransportFailure['fault']> = new Set(['aborted', 'unreadable'])

/** Asks `/readyz` once, without a credential. */
export async function serverState(session: Session): Promise<ServerState> {
  const startedMs = session.io.nowMs()
  const latency = (): number => session.io.nowMs() - startedMs
  try {
    const caller = await session.caller()
    const options = { repeatable: false, token: null, timeoutMs: await patienceMs(session) }
    const answer = await caller.send({ method: 'GET', path: '/readyz', headers: {} }, options)
    const body = parsed(answer)
    const said = body['status']
    return {
      status: typeof said === 'string' ? said : `HTTP ${answer.status}`,
      latencyMs: latency(),
      answer,
      unwell: unwellOf(body),
      dependencies: [...dependenciesIn(body['probes']), ...dependenciesIn(body['unprobed'])],
    }
  } catch (error) {
    if (!(error instanceof TransportFailure) || IS_NO_STATE.has(error.fault)) throw error
    return { status: 'unreachable', latencyMs: latency(), failure: error.message, unwell: {}, dependencies: [] }
  }
}

function parsed(answer: HttpAnswer): Row {
  try {
    const value: unknown = JSON.parse(answer.body.toString('utf8'))
    return isRow(value) ? value : {}
  } catch {
    return {} // Not a ctl server; its status says enough.
  }
}

function entriesOf(probes: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(probes)) return probes.map((probe) => [String(memberOf(probe, 'name')), probe] as const)
  return isRow(probes) ? Object.entries(probes) : []
}

function dependenciesIn(probes: unknown): readonly ServerDependency[] {
  return entriesOf(probes).map(([name, probe]) => {
    const { detail, ...said } = saidBy(probe)
    return { name, ...said, ...(memberOf(probe, 'ok') === false && { detail }) }
  })
}

function unwellOf(body: Row): ServerState['unwell'] {
  const unwell = entriesOf(body['probes']).filter(([, probe]) => memberOf(probe, 'ok') === false)
  return Object.fromEntries(unwell.map(([name, probe]) => [name, saidBy(probe)]))
}

function saidBy(probe: unknown): Unwell {
  const text = (member: string): string => exactText(memberOf(probe, member))
  const [since, meanwhile] = [text('since'), text('meanwhile')]
  return {
    detail: text('detail') || 'not ok',
    ...(since !== '' && { since }),
    ...(meanwhile !== '' && { meanwhile }),
  }
}
