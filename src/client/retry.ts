import { TransportFailure } from './failures.ts'
import type { HttpAnswer } from './transport.ts'

/** What a retry needs of the world; tests bring their own. */
export interface RetryClock {
  nowMs(): number
  /** Rejects with the signal's reason when it is given up. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** In [0, 1). */
  random(): number
}

/** The machine's clock, timers and chance. */
export const systemRetryClock: RetryClock = {
  // Monotonic; the global `performance` would load a dozen modules first.
  nowMs: () => Number(process.hrtime.bigint()) / 1e6,
  random: Math.random,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        clearTimeout(timer)
        reject(new TransportFailure('aborted', 'the call was given up'))
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }, ms)
      signal?.addEventListener('abort', giveUp, { once: true })
    }),
}

export interface RetryLimits {
  /** Whether repeating the call is harmless; otherwise it is sent once (S0: no blind POST). */
  readonly repeatable: boolean
  /** Tries at most; 5 when absent. */
  readonly triesMax?: number | undefined
  /** For all tries and the pauses between them, in ms. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** The first pause is drawn from 0..200 ms; each further one from twice as much, up to 5 s. */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000
/** A try with less time than this would end at the deadline, and hide what the one before was told. */
const SHORTEST_TRY_MS = 200

/** Statuses that say "not now": RFC 9110 §15.6.3 to 15.6.5 and RFC 6585 §4. */
const PASSING = new Set([429, 502, 503, 504])

/**
 * Sends until an answer stands: pauses are full jitter on top of `Retry-After`, and none begins that would leave the
 * next try no time before the deadline; then the last answer or failure is what the caller gets. `send` is told what is left of the deadline, in ms.
 */
export async function withRetries(
  send: (remainingMs: number) => Promise<HttpAnswer>,
  { repeatable, triesMax = 5, timeoutMs, signal }: RetryLimits,
  clock: RetryClock = systemRetryClock,
): Promise<HttpAnswer> {
  const deadlineMs = clock.nowMs() + timeoutMs
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tried(() => send(deadlineMs - clock.nowMs()))
    const last = !repeatable || attempt >= triesAllowed(outcome, triesMax)
    const pauseMs = last ? 0 : pauseBefore(attempt + 1, outcome, clock)
    if (last || clock.nowMs() + pauseMs + SHORTEST_TRY_MS >= deadlineMs) return settled(outcome)
    await clock.sleep(pauseMs, signal)
  }
}

type Outcome = { readonly answer: HttpAnswer } | { readonly failure: unknown }

async function tried(send: () => Promise<HttpAnswer>): Promise<Outcome> {
  try {
    return { answer: await send() }
  } catch (failure) {
    return { failure }
  }
}

function settled(outcome: Outcome): HttpAnswer {
  if ('answer' in outcome) return outcome.answer
  throw outcome.failure
}

/** Where nobody listens, a person had better hear of it soon; what only passes is waited for longer. */
const UNREACHABLE_TRIES = 3

function triesAllowed(outcome: Outcome, most: number): number {
  if ('answer' in outcome) return PASSING.has(outcome.answer.status) ? most : 1
  const fault = outcome.failure instanceof TransportFailure ? outcome.failure.fault : undefined
  if (fault === 'unreachable') return Math.min(UNREACHABLE_TRIES, most)
  return fault === 'broken' ? most : 1
}

function pauseBefore(attempt: number, outcome: Outcome, clock: RetryClock): number {
  const widest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 2))
  const floor = 'answer' in outcome ? (retryAfterSeconds(outcome.answer, Date.now()) ?? 0) * 1000 : 0
  return floor + clock.random() * widest
}

/** Reads `Retry-After` (RFC 9110 §10.2.3), seconds or a date; undefined when absent or malformed. */
export function retryAfterSeconds(answer: HttpAnswer, nowMs: number): number | undefined {
  const text = answer.headers['retry-after']
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000))
}
