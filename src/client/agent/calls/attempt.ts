import { ProblemAnswer, TransportFailure } from '../../failures.ts'
import type { AgentDeps } from '../agent-deps.ts'
import type { AgentOperation } from './operations.ts'
import { dimensionOf } from './capacity-dimension.ts'
import type { Outcome } from './outcome.ts'
import { isRefusedKey } from './refused-key.ts'
import { requestedWaitMs, unavailableWaitMs } from './requested-wait.ts'
import { acceptSecretKey, refuseSecretKey, secretKeyOf } from '../keys/secret-key.ts'
import type { KeyedMember } from '../member.ts'

/** How a call is made and counted. */
export interface CallTerms {
  readonly operation: AgentOperation
  /** Whether the call can be repeated when the server stops or the connection breaks. */
  readonly isRepeatable: boolean
  /** The code with which the server must refuse the call, because of an injected fault. */
  readonly expects?: string
  /** A limit with a wait is not waited for here: the caller makes the call again later. */
  readonly isDeferred?: true
  /** Codes that are not counted as errors, because another call can have done the work first. The caller handles them. */
  readonly toleratedCodes?: readonly string[]
}

/** Maximum time and number of tries. The pauses are full jitter. */
const RETRY_MS_MAX = 10_000
const TRIES_MAX = 8
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/** The outcome of an operation that the server does not provide (501). */
export const NOT_PROVISIONED = 'not_provisioned'

/** Codes after which the same call may succeed: the server stops, is overloaded or unreachable. */
export const RETRYABLE: ReadonlySet<string> = new Set(['shutting_down', 'overloaded', 'broken', 'unreachable'])

/**
 * Makes a call with the node's present key, and repeats it where that is allowed: after a limit of rate or capacity once the time
 * has passed that the server asks for. Counts the outcome and each refusal by a limit, and records the latency of the last try.
 *
 * @throws any error that is neither a refusal nor a transport failure: a bug.
 */
export async function attempt<T>(
  deps: AgentDeps,
  node: KeyedMember,
  { call, ...terms }: CallTerms & { readonly call: (nsk: string) => Promise<T> },
): Promise<Outcome<T>> {
  if (deps.notProvisioned.has(terms.operation)) return { ok: false, code: NOT_PROVISIONED, tries: 0 }
  const deadlineMs = deps.clock.now() + RETRY_MS_MAX
  for (let tries = 1; ; tries += 1) {
    const nsk = secretKeyOf(node)
    const outcome = await once(deps, terms, () => call(nsk))
    if ('value' in outcome) {
      acceptSecretKey(deps, node, nsk)
      return { ok: true, value: outcome.value, tries }
    }
    refuseSecretKey(deps, node, { nsk, code: outcome.code })
    const isRetryable = mayRepeat({ ...outcome, terms, isOldKey: nsk !== secretKeyOf(node) })
    const isRepeated = isRetryable && tries < TRIES_MAX && isInTime(deps, outcome, deadlineMs)
    if (!isRepeated || outcome.waitMs !== undefined) record(deps, node, { ...terms, ...outcome })
    if (!isRepeated) return { ok: false, code: outcome.code, waitMs: outcome.waitMs, tries }
    await pauseBefore(deps, tries + 1, outcome)
    if (deps.until.aborted) return { ok: false, code: 'aborted', tries }
  }
}

/** Whether the call can be repeated before the deadline. */
function isInTime({ clock }: AgentDeps, { waitMs = 0, pauseMsMin = 0 }: Failure, deadlineMs: number): boolean {
  return clock.now() + Math.max(waitMs, pauseMsMin) < deadlineMs
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

/** A requested wait is kept to the millisecond; all other pauses grow and are random. */
async function pauseBefore(
  { statistics, clock, until }: AgentDeps,
  tries: number,
  { waitMs, pauseMsMin = 0 }: Failure,
): Promise<void> {
  if (waitMs !== undefined) return clock.pause(waitMs, until)
  statistics.count('retries')
  const randomMs = clock.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1))
  await clock.pause(pauseMsMin + randomMs, until)
}

interface Failed extends Failure {
  readonly terms: CallTerms
  /** The node's key was replaced during the call. */
  readonly isOldKey: boolean
}

function mayRepeat({ code, waitMs, terms, isOldKey }: Failed): boolean {
  const isWaitedFor = waitMs !== undefined && terms.isDeferred !== true && terms.expects !== code
  return (terms.isRepeatable && (RETRYABLE.has(code) || isWaitedFor)) || (isOldKey && isRefusedKey(code))
}

interface Failure {
  readonly code: string
  readonly waitMs?: number | undefined
  /** What an unavailable server asks for before the next try. */
  readonly pauseMsMin?: number
  readonly dimension?: string | undefined
}

type Settled<T> = { readonly value: T } | Failure

async function settled<T>(call: Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await call }
  } catch (error) {
    if (error instanceof ProblemAnswer)
      return {
        code: error.status === 501 ? NOT_PROVISIONED : error.code,
        waitMs: requestedWaitMs(error),
        pauseMsMin: unavailableWaitMs(error),
        dimension: dimensionOf(error),
      }
    if (error instanceof TransportFailure) return { code: error.fault }
    throw error
  }
}

/** Codes that clients see during an outage. */
export const OUTAGE: ReadonlySet<string> = new Set([
  ...RETRYABLE,
  'timeout',
  'internal',
  'unexpected_answer',
  'datastore_unavailable',
  'authz_unavailable',
])

function record(
  { statistics, isOutage, notProvisioned }: AgentDeps,
  node: KeyedMember,
  failed: CallTerms & Failure,
): void {
  const { operation, code, expects, toleratedCodes, dimension } = failed
  if (toleratedCodes?.includes(code) === true) return
  if (code === NOT_PROVISIONED) {
    notProvisioned.add(operation)
    return statistics.count('not_provisioned')
  }
  const isExpected = code === expects || (node.isRevoked && isRefusedKey(code))
  if (isExpected) return statistics.expected(operation, code, 'expected_refusals')
  if (isOutage() && OUTAGE.has(code)) return statistics.expected(operation, code, 'outage_errors')
  return statistics.failed(operation, code, dimension)
}
