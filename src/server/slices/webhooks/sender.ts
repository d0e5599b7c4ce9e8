import { OutgoingFetchError, type OutgoingAnswer, type OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { EndpointRules } from './endpoint.ts'
import { readKeys } from './keys-store.ts'
import { retryAfterOf } from './retry-table.ts'
import { signaturesOf } from './signing.ts'

/** What an attempt sends. */
export interface Sendable {
  readonly id: string
  readonly webhook_id: string
  readonly url: string
  readonly message: string
}

/** What came of an attempt. */
export interface Outcome {
  /** False where the server could not sign the message, so that nothing was sent: the endpoint is not at fault. */
  readonly isSent: boolean
  /** Undefined after a success. */
  readonly failure: string | undefined
  /** Of the answer; undefined where there was none. */
  readonly status: number | undefined
  /** Beginning of the answer of a failure. */
  readonly answer: string | undefined
  readonly durationMs: number
  /** What the endpoint asks for, where its status gives that a meaning. */
  readonly retryAfterMs: number | undefined
}

/**
 * Sends one message and waits for its answer. Undefined where the signal ended it.
 * @throws what the datastore throws before anything is sent.
 */
export type Send = (message: Sendable, signal: AbortSignal) => Promise<Outcome | undefined>

export interface SenderDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly clock: Clock
  readonly rules: EndpointRules
  readonly webhookFetch: OutgoingFetch
  /** Monotonic, ms. */
  readonly elapsedMs: () => number
  /** Called with a webhook of which no key can be opened. */
  readonly onUnsigned: (webhookId: string) => void
}

const ANSWER_CHARACTERS_MAX = 256
const NO_ANSWER = { status: undefined, answer: undefined, retryAfterMs: undefined } as const
const UNSIGNED: Outcome = {
  isSent: false,
  failure:
    'Not sent: the server can open no signing key of the webhook. Make a new one with "ctl webhooks rotate-secret".',
  ...NO_ANSWER,
  durationMs: 0,
}
const GONE = 410
/** Statuses whose `Retry-After` counts: RFC 6585 §4, RFC 9110 §15.6.4. */
const THROTTLING: readonly number[] = [429, 503]

/** Makes the sender: it signs with every key of the webhook, at the time of the attempt. */
export function createSend(deps: SenderDeps): Send {
  const { datastore, sealing, clock, rules, webhookFetch, elapsedMs, onUnsigned } = deps

  /** Undefined where no key of the webhook can be opened. */
  async function signedHeaders({ id, webhook_id: webhookId, message: body }: Sendable) {
    const nowMs = clock.now()
    const timestamp = Math.floor(nowMs / 1000)
    const keys = await readKeys(datastore.pool('worker'), webhookId, new Date(nowMs))
    const signatures = await signaturesOf(sealing, keys, { id, timestamp, body })
    if (signatures === '') return undefined
    return {
      'content-type': 'application/json',
      accept: '*/*',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures,
    }
  }

  return async (message, signal) => {
    const { url, message: body } = message
    const headers = await signedHeaders(message)
    if (headers === undefined) {
      onUnsigned(message.webhook_id)
      return UNSIGNED
    }
    const allowPrivateNetwork = rules.isPrivateAllowed(new URL(url))
    const request = {
      method: 'POST',
      headers,
      body,
      allowPrivateNetwork,
      redirect: 'returned',
      excess: 'cut',
      signal,
    } as const
    const beganMs = elapsedMs()
    const spentMs = (): number => Math.round(elapsedMs() - beganMs)
    try {
      return outcomeOf(await webhookFetch(url, request), { durationMs: spentMs(), nowMs: clock.now() })
    } catch (error) {
      if (signal.aborted) return undefined
      if (!(error instanceof OutgoingFetchError)) throw error
      return { isSent: true, failure: failureOf(error, url), ...NO_ANSWER, durationMs: spentMs() }
    }
  }
}

/** Whether the endpoint wants nothing any more. */
export function isGone({ status }: Outcome): boolean {
  return status === GONE
}

function outcomeOf(
  { status, headers, body }: OutgoingAnswer,
  { durationMs, nowMs }: { readonly durationMs: number; readonly nowMs: number },
): Outcome {
  if (status >= 200 && status < 300) return { ...NO_ANSWER, isSent: true, failure: undefined, status, durationMs }
  const isRedirect = status >= 300 && status < 400
  return {
    isSent: true,
    failure: `The endpoint answered ${status}${isRedirect ? ', a redirect, which is not followed' : ''}.`,
    status,
    answer: excerptOf(body),
    durationMs,
    retryAfterMs: THROTTLING.includes(status) ? retryAfterOf(headers['retry-after'], nowMs) : undefined,
  }
}

/** Text without control characters, which terminals would act on. */
function excerptOf(body: Buffer): string | undefined {
  const text = body
    .toString('utf8')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return text === '' ? undefined : text.slice(0, ANSWER_CHARACTERS_MAX).toWellFormed()
}

function failureOf({ reason, code }: OutgoingFetchError, url: string): string {
  if (reason === 'timeout') return 'The endpoint gave no complete answer within 15 s.'
  if (reason !== 'forbidden_address') return `The endpoint cannot be reached${code === undefined ? '' : `: ${code}`}.`
  return new URL(url).protocol === 'http:'
    ? 'The endpoint has plain http, and --webhook-allow-hosts does not name its host.'
    : 'The endpoint is not at a public address, and --webhook-allow-hosts does not name its host.'
}
