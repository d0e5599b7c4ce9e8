const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Pauses after the first, second … attempt that failed (Standard Webhooks, Deliverability and reliability), in ms. */
const PAUSES_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const

/** Share of a pause that chance adds at most, so that the retries of an outage do not come together. */
const JITTER = 0.1
/** What `Retry-After` may ask for at most. */
const RETRY_AFTER_MAX_MS = 24 * HOUR_MS
const RESUME_MAX_MS = MINUTE_MS
const THROTTLED_MAX_MS = HOUR_MS

export interface FailedAttempt {
  /** Attempts of the delivery so far, this one among them. */
  readonly tries: number
  /** What the endpoint asks for; undefined where it does not. */
  readonly retryAfterMs: number | undefined
  /** From 0 to below 1. */
  readonly random: number
}

/** The pause before the next attempt in ms; undefined after the last one. A longer `Retry-After` is honoured. */
export function pauseAfter({ tries, retryAfterMs = 0, random }: FailedAttempt): number | undefined {
  const pauseMs = PAUSES_MS[tries - 1]
  if (pauseMs === undefined) return undefined
  return Math.round(Math.max(pauseMs * (1 + JITTER * random), Math.min(retryAfterMs, RETRY_AFTER_MAX_MS)))
}

/**
 * How long nothing at all is sent to an endpoint after so many failures in a row, in ms: 2 s, 4 s, up to a minute. What waits for a
 * dead endpoint thereby costs it, and this server, few requests. A longer `Retry-After` counts up to an hour.
 */
export function endpointPauseAfter(failures: number, retryAfterMs = 0): number {
  const backoffMs = Math.min(SECOND_MS * 2 ** Math.min(failures, 10), RESUME_MAX_MS)
  return Math.max(backoffMs, Math.min(retryAfterMs, THROTTLED_MAX_MS))
}

/** Parses `Retry-After` (RFC 9110 §10.2.3): seconds or a date. Undefined where it is neither, or in the past. */
export function retryAfterOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text) - nowMs
  return ms > 0 ? ms : undefined
}
