import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import type { AgentDeps } from './agent/agent-deps.ts'
import type { SimulatedOperation } from './counts.ts'
import { isRefusedKey } from './refused-key.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** How a call is made. */
export interface CallTerms {
  readonly operation: SimulatedOperation
  /** Whether the call may be made again when the server stops or the connection breaks. */
  readonly isRepeatable: boolean
  /** The code with which the server must refuse it, because a fault is played. */
  readonly expects?: string
  /** Codes that say that somebody else was sooner: no error, and left to the caller. */
  readonly passable?: readonly string[]
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly tries: number }
  /** `code`: the problem code, or the client's own word for a failure without an answer. */
  | { readonly ok: false; readonly code: string; readonly tries: number }

/** How long an agent goes on trying, and how often. The pauses are full jitter. */
const PATIENCE_MS = 10_000
const TRIES_MAX = 8
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/** Of any surface that a server has not (501). */
const NOT_PROVISIONED = 'not_provisioned'

/** Refusals and faults after which the same call may succeed: a server that stops, is overloaded or is not there. */
const PASSING = new Set(['shutting_down', 'overloaded', 'broken', 'unreachable'])

/**
 * Makes a call with the node's key as it is at that moment, counts how it ended and how long the last try took. Anything but
 * a refusal or a broken wire is a bug and is thrown on.
 */
export async function attempt<T>(
  deps: AgentDeps,
  node: SimulatedNode,
  { call, ...terms }: CallTerms & { readonly call: (nsk: string) => Promise<T> },
): Promise<Outcome<T>> {
  if (deps.absent.has(terms.operation)) return { ok: false, code: NOT_PROVISIONED, tries: 0 }
  const lateMs = deps.clock.now() + PATIENCE_MS
  for (let tries = 1; ; tries += 1) {
    const { nsk } = node.identity
    const outcome = await once(deps, terms, () => call(nsk))
    if ('value' in outcome) return { ok: true, value: outcome.value, tries }
    const { code } = outcome
    const isWorthIt = mayRepeat({ code, terms, isOldKey: nsk !== node.identity.nsk })
    if (!isWorthIt || tries >= TRIES_MAX || deps.clock.now() >= lateMs) {
      record(deps, node, { ...terms, code })
      return { ok: false, code, tries }
    }
    await pauseBefore(deps, tries + 1)
    if (deps.until.aborted) return { ok: false, code: 'aborted', tries }
  }
}

async function once<T>(
  { statistics }: AgentDeps,
  { operation, expects }: CallTerms,
  call: () => Promise<T>,
): Promise<Settled<T>> {
  const startedMs = performance.now()
  const outcome = await settled(call())
  if (!('value' in outcome)) return outcome
  statistics.succeeded(operation, performance.now() - startedMs)
  if (expects !== undefined) statistics.count('unmet_faults')
  return outcome
}

async function pauseBefore({ statistics, clock, until }: AgentDeps, tries: number): Promise<void> {
  statistics.count('retries')
  await clock.pause(clock.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)), until)
}

interface Failed {
  readonly code: string
  readonly terms: CallTerms
  /** The key that was presented is no longer the node's. */
  readonly isOldKey: boolean
}

function mayRepeat({ code, terms, isOldKey }: Failed): boolean {
  return (terms.isRepeatable && PASSING.has(code)) || (isOldKey && isRefusedKey(code))
}

type Settled<T> = { readonly value: T } | { readonly code: string }

async function settled<T>(call: Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await call }
  } catch (error) {
    if (error instanceof ProblemAnswer) return { code: error.status === 501 ? NOT_PROVISIONED : error.code }
    if (error instanceof TransportFailure) return { code: error.fault }
    throw error
  }
}

/** Errors of transport and of a server that is not well: what an outage looks like from outside. */
const OUTAGE = new Set([
  ...PASSING,
  'timeout',
  'internal',
  'unexpected_answer',
  'datastore_unavailable',
  'authz_unavailable',
])

function record(
  { statistics, isOutage, absent }: AgentDeps,
  node: SimulatedNode,
  failed: CallTerms & { code: string },
): void {
  const { operation, code, expects, passable } = failed
  if (passable?.includes(code) === true) return
  if (code === NOT_PROVISIONED) {
    absent.add(operation)
    return statistics.count('not_provisioned')
  }
  const isExpected = code === expects || (node.isCutOff && isRefusedKey(code))
  if (isExpected) return statistics.expected(operation, code, 'expected_refusals')
  if (isOutage() && OUTAGE.has(code)) return statistics.expected(operation, code, 'outage_errors')
  return statistics.failed(operation, code)
}
