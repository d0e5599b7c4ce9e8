import { TransportFailure } from './failures.ts'
import type { HttpAnswer } from './transport.ts'

/** Time and randomness for retries. */
export interface RetryClock {
  nowMs(): number
  /** @throws TransportFailure `aborted` if the signal is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** In [0, 1). */
  random(): number
}

/** The clock, timers and random numbers of the machine. */
export const systemRetryClock: RetryClock = {
  // Monotonic. The global `performance` would load a dozen modules.
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
  /** Whether the call can be repeated safely; otherwise it is sent once (S0: no blind POST). */
  readonly repeatable: boolean
  /** Maximum number of tries; 5 when absent. */
  readonly triesMax?: number | undefined
  /** Deadline for all tries with their pauses, in ms. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Called before each pause with the answer that is not final, undefined if there was none. */
  readonly beforeRetry?: ((answer: HttpAnswer | undefined, pauseMs: number) => void) | undefined
}

/** Upper bound of the first random pause. It doubles with each pause, up to 5 s. */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000
/** Minimum time for a try. A shorter one would end in a timeout that hides the previous answer. */
const SHORTEST_TRY_MS = 200

/** Statuses that are worth a retry: RFC 9110 §15.6.3 to 15.6.5 and RFC 6585 §4. */
const RETRYABLE = new Set([429, 502, 503, 504])

/**
 * Sends and retries until there is a final answer. Pauses are full jitter on top of `Retry-After`. When a pause would leave
 * no time for another try, the caller gets the last answer or failure. `send` gets the remaining time, in ms.
 */
export async function withRetries(
  send: (remainingMs: number) => Promise<HttpAnswer>,
  { repeatable, triesMax = 5, timeoutMs, signal, beforeRetry }: RetryLimits,
  clock: RetryClock = systemRetryClock,
): Promise<HttpAnswer> {
  const deadlineMs = clock.nowMs() + timeoutMs
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tried(() => send(deadlineMs - clock.nowMs()))
    const last = !repeatable || attempt >= triesAllowed(outcome, triesMax)
    const pauseMs = last ? 0 : pauseBefore(attempt + 1, outcome, clock)
    const hasTime = (fromMs: number): boolean => fromMs + SHORTEST_TRY_MS < deadlineMs
    if (last || !hasTime(clock.nowMs() + pauseMs)) return settled(outcome)
    beforeRetry?.(answerOf(outcome), pauseMs)
    await clock.sleep(pauseMs, signal)
    // A pause takes longer than asked for where the machine is busy or was suspended.
    if (!hasTime(clock.nowMs())) return settled(outcome)
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

function answerOf(outcome: Outcome): HttpAnswer | undefined {
  return 'answer' in outcome ? outcome.answer : undefined
}

function settled(outcome: Outcome): HttpAnswer {
  if ('answer' in outcome) return outcome.answer
  throw outcome.failure
}

/** Fewer tries without a connection, because the cause is usually a wrong address or a server that does not run. */
const UNREACHABLE_TRIES = 3

function triesAllowed(outcome: Outcome, most: number): number {
  if ('answer' in outcome) return RETRYABLE.has(outcome.answer.status) ? most : 1
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
