import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import { refusalOf } from './client.ts'
import { ProblemAnswer, TransportFailure } from './failures.ts'
import { foreignServer } from './foreign-server.ts'
import { systemRetryClock, type RetryClock } from './retry.ts'
import { asFailure, readToEnd, type OpenAnswer } from './transport.ts'

/** A frame of server-sent events, as received. */
export interface Frame {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/**
 * Why a connection ended.
 * `ended`: the server closed it between two frames; `truncated`: it broke in the middle of a frame, which is dropped;
 * `silent`: no byte arrived in time, not even a keep-alive; `frame_too_large`: a frame exceeds the bound and is dropped;
 * `refused`: an error status; `undecided`: the listener could not verify a frame; otherwise the fault of the transport.
 */
export type CutReason =
  | 'ended'
  | 'truncated'
  | 'silent'
  | 'frame_too_large'
  | 'refused'
  | 'undecided'
  | TransportFailure['fault']

export interface Cut {
  readonly reason: CutReason
  readonly cause: ProblemAnswer | TransportFailure | undefined
  /** Pause before the next connection. */
  readonly pauseMs: number
}

export interface StreamListener {
  /**
   * Receives a frame; the next one is read after it resolves. True: later connections resume after this frame. A thrown
   * `ProblemAnswer` or `TransportFailure` ends the connection, and the next one requests the frame again.
   */
  frame(frame: Frame): boolean | Promise<boolean>
  /** The server has accepted a connection. */
  opened?(): void
  /** A connection ended or could not be made. The next one follows after the pause. */
  cut?(cut: Cut): void
}

export interface FollowOptions {
  /** Requests the stream (`Caller.open`). Resolves with an answer of any status. */
  readonly connect: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<OpenAnswer>
  /** Resumes after this event; when absent, starts with the next new event. */
  readonly lastEventId?: string | undefined
  /** Ends the stream. Use one signal per stream: removing a listener is slow on a signal with thousands of them. */
  readonly signal: AbortSignal
  /** Maximum number of tries until the first connection opens; no limit when absent. */
  readonly triesMax?: number | undefined
  /** A connection is closed after this time without a byte; 60,000 ms when absent (S0: a keep-alive every 25 s). */
  readonly silenceMsMax?: number | undefined
  readonly clock?: RetryClock | undefined
}

/** Maximum length of a frame; the server's own bound is far lower. */
export const FRAME_CHARACTERS_MAX = 1024 * 1024
/** A connection without a byte for this time, not even a keep-alive, is lost. */
export const SILENCE_MS_MAX = 60_000
const EVENT_STREAM = 'text/event-stream'
/** Upper bound of the random pause after a good connection. It doubles after each connection that was not good. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** Maximum pause that a server can request with `retry:` or `Retry-After`. */
const REQUESTED_PAUSE_MS_MAX = 300_000
/** A connection counts as good after this time, even without a frame. */
export const GOOD_AFTER_MS = 10_000
const REFUSAL_MS_MAX = 10_000

/** Statuses that are worth a retry. Every other refusal is final. */
const RETRYABLE = new Set([408, 429, 500, 502, 503, 504])
const FATAL_FAULTS: ReadonlySet<CutReason> = new Set(['untrusted', 'unreadable'])

/**
 * Follows a stream of server-sent events over any number of connections. Each connection resumes after the last accepted
 * frame; the pauses between them are full jitter on top of `retry:` and `Retry-After`. Resolves when the signal is aborted.
 * Keeps at most one frame and one chunk in memory.
 *
 * @throws ProblemAnswer for a final refusal.
 * @throws TransportFailure if the stream never opened, or if the answer is not a stream.
 */
export async function followStream(options: FollowOptions, listener: StreamListener): Promise<void> {
  const { signal, triesMax = Infinity, clock = systemRetryClock } = options
  const state: StreamState = { lastEventId: options.lastEventId, retryMs: 0, hasOpened: false, isGood: false }
  for (let bad = 0, tries = 1; !signal.aborted; tries += 1) {
    const ending = await connection(options, state, listener)
    if (signal.aborted) return
    bad = state.isGood ? 0 : bad + 1
    if (isFinal(ending) || (!state.hasOpened && tries >= triesMax)) throw ending.cause
    const requestedMs = Math.max(state.retryMs, requestedPauseMs(ending))
    const pauseMs = pauseBeforeConnectionMs({ bad, requestedMs, random: () => clock.random() })
    listener.cut?.({ ...ending, pauseMs })
    // It rejects only if the signal is aborted, which ends the loop.
    await clock.sleep(pauseMs, signal).catch(() => undefined)
  }
}

/** What decides how soon a stream is requested again. */
export interface Reconnection {
  /** Number of connections in succession that were not good. */
  readonly bad: number
  /** Of `retry:` and `Retry-After`. */
  readonly requestedMs: number
  readonly random: () => number
}

/** Pause before the next connection of a stream, in ms: full jitter on top of what the server requests, up to five minutes of that. */
export function pauseBeforeConnectionMs({ bad, requestedMs, random }: Reconnection): number {
  const widest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, bad - 1))
  return Math.min(REQUESTED_PAUSE_MS_MAX, requestedMs) + random() * widest
}

interface StreamState {
  lastEventId: string | undefined
  /** The last `retry:` of the server. */
  retryMs: number
  hasOpened: boolean
  /** Whether the last connection brought an accepted frame, or lasted long enough. */
  isGood: boolean
}

type Ending = Omit<Cut, 'pauseMs'>

function isFinal({ reason, cause }: Ending): boolean {
  if (reason === 'refused') return cause instanceof ProblemAnswer && isFinalRefusalOfStream(cause)
  return FATAL_FAULTS.has(reason)
}

/** Whether a stream that was refused is not requested again. */
export function isFinalRefusalOfStream({ status }: ProblemAnswer): boolean {
  return !RETRYABLE.has(status)
}

function requestedPauseMs({ cause }: Ending): number {
  return cause instanceof ProblemAnswer ? (cause.retryAfterSeconds ?? 0) * 1000 : 0
}

/** Makes one connection and reads it to its end. */
async function connection(options: FollowOptions, state: StreamState, listener: StreamListener): Promise<Ending> {
  const { clock = systemRetryClock, silenceMsMax = SILENCE_MS_MAX } = options
  const startedMs = clock.nowMs()
  state.isGood = false
  const answer = await requestStream(options, state)
  if ('reason' in answer) return answer
  state.hasOpened = true
  listener.opened?.()
  const ending = await readFrames(answer.body, { signal: options.signal, state, listener, silenceMsMax })
  state.isGood ||= clock.nowMs() - startedMs >= GOOD_AFTER_MS
  return ending
}

async function requestStream(
  { connect, signal }: FollowOptions,
  { lastEventId }: StreamState,
): Promise<OpenAnswer | Ending> {
  const headers = { accept: EVENT_STREAM, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
  try {
    const answer = await connect(headers, signal)
    if (answer.status >= 400) return refusedBy(refusalOf(await readToEnd(answer, REFUSAL_MS_MAX)))
    if (answer.status === 200 && answer.headers['content-type']?.startsWith(EVENT_STREAM) === true) return answer
    answer.body.destroy()
    return unreadable(answer)
  } catch (error) {
    if (error instanceof TransportFailure) return { reason: error.fault, cause: error }
    throw error
  }
}

function refusedBy(cause: ProblemAnswer | TransportFailure): Ending {
  return { reason: cause instanceof ProblemAnswer ? 'refused' : cause.fault, cause }
}

function unreadable(answer: OpenAnswer): Ending {
  return { reason: 'unreadable', cause: foreignServer(answer) }
}

interface Reading {
  readonly signal: AbortSignal
  readonly state: StreamState
  readonly listener: StreamListener
  readonly silenceMsMax: number
}

/** Reads the frames of a connection to its end. */
async function readFrames(body: Readable, reading: Reading): Promise<Ending> {
  const parser = createFrameParser(reading.state)
  const silence = watchSilence(body, reading.silenceMsMax)
  const chunks = body.setEncoding('utf8')[Symbol.asyncIterator]()
  try {
    for (;;) {
      silence.resume()
      const chunk = await nextChunk(chunks)
      if (typeof chunk !== 'string') return parser.isBetweenFrames() ? chunk : { ...chunk, reason: 'truncated' }
      silence.suspend()
      const ending = await passFrames(parser.feed(chunk), reading)
      if (ending !== undefined) return ending
      if (parser.isTooLarge()) return { reason: 'frame_too_large', cause: undefined }
    }
  } finally {
    silence.stop()
    body.destroy()
  }
}

/** Resolves with the next chunk, or with how the connection ended. */
async function nextChunk(chunks: AsyncIterator<string>): Promise<string | Ending> {
  try {
    const { done, value } = await chunks.next()
    return done === true ? { reason: 'ended', cause: undefined } : value
  } catch (error) {
    if (error instanceof Silence) return { reason: 'silent', cause: undefined }
    const failure = asFailure(error)
    return { reason: failure.fault, cause: failure }
  }
}

async function passFrames(frames: readonly Frame[], { state, listener, signal }: Reading): Promise<Ending | undefined> {
  for (const frame of frames) {
    if (signal.aborted) return undefined
    try {
      if (!(await listener.frame(frame))) continue
    } catch (error) {
      if (error instanceof ProblemAnswer || error instanceof TransportFailure)
        return { reason: 'undecided', cause: error }
      throw error
    }
    state.isGood = true
    state.lastEventId = frame.id ?? state.lastEventId
  }
  return undefined
}

/** Parses chunks into frames and enforces the length bound. */
function createFrameParser(state: StreamState) {
  let frames: Frame[] = []
  let isTooLarge = false
  /** The last four characters: enough to recognize the blank line that ends a frame. */
  let tail = ''
  const sse = createParser({
    maxBufferSize: FRAME_CHARACTERS_MAX,
    onEvent({ id, event = 'message', data }) {
      if (data.length > FRAME_CHARACTERS_MAX) isTooLarge = true
      else if (!isTooLarge) frames.push({ id, event, data })
    },
    onRetry(ms) {
      state.retryMs = ms
    },
    onError({ type }) {
      isTooLarge ||= type === 'max-buffer-size-exceeded'
    },
  })
  return {
    feed(chunk: string): readonly Frame[] {
      frames = []
      tail = (tail + chunk).slice(-4)
      sse.feed(chunk)
      return frames
    },
    isTooLarge: () => isTooLarge,
    isBetweenFrames: () => tail === '' || /(?:\n\n|\r\r|\r\n\r\n)$/.test(tail),
  }
}

class Silence extends Error {}

/** Destroys the body if no chunk arrives in time. The timer does not count while the listener handles a frame. */
function watchSilence(body: Readable, silenceMsMax: number) {
  let isWaiting = false
  const timer = setTimeout(() => {
    if (isWaiting) body.destroy(new Silence())
  }, silenceMsMax)
  return {
    resume(): void {
      isWaiting = true
      timer.refresh()
    },
    /** A slow listener must not look like a silent server. */
    suspend(): void {
      isWaiting = false
    },
    stop: () => clearTimeout(timer),
  }
}
