import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import { refusalOf } from './client.ts'
import { ProblemAnswer, TransportFailure } from './failures.ts'
import { foreignServer } from './foreign-server.ts'
import { systemRetryClock, type RetryClock } from './retry.ts'
import { asFailure, readToEnd, type OpenAnswer } from './transport.ts'

/** A frame of server-sent events, as it came. */
export interface Frame {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/**
 * Why a connection is over.
 * `ended`: the server ended it in order; `truncated`: in the middle of a frame, which is dropped; `silent`: not even a
 * keep-alive came; `frame_too_large`: a frame over the bound, which is dropped; `refused`: a status that passes;
 * `undecided`: what a frame is worth could not be found out; else what the transport says.
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
  /** Until the next try. */
  readonly pauseMs: number
}

export interface StreamListener {
  /**
   * Takes a frame; nothing more is read until it resolves. True: the stream is resumed after it. A thrown `ProblemAnswer` or
   * `TransportFailure` cuts the connection, and the frame is asked for again.
   */
  frame(frame: Frame): boolean | Promise<boolean>
  /** The server has accepted a connection. */
  opened?(): void
  /** A connection is over, or none came about; another is made after the pause. */
  cut?(cut: Cut): void
}

export interface FollowOptions {
  /** Asks for the stream (`Caller.open`): the answer of any status. */
  readonly connect: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<OpenAnswer>
  /** Resumes strictly after it; begins with what comes next when absent. */
  readonly lastEventId?: string | undefined
  /** Ends it. One for each stream: thousands on one signal are searched one by one. */
  readonly signal: AbortSignal
  /** Tries until it has been open once, at most; without end when absent. */
  readonly triesMax?: number | undefined
  /** Without a byte for so long, a connection is taken for dead; 60,000 ms when absent (S0: a keep-alive every 25 s). */
  readonly silenceMsMax?: number | undefined
  readonly clock?: RetryClock | undefined
}

/** A frame may have so many characters; the server's own bound is far below. */
export const FRAME_CHARACTERS_MAX = 1024 * 1024
const SILENCE_MS_MAX = 60_000
const EVENT_STREAM = 'text/event-stream'
/** The pause is drawn from 0 to this after a connection that was good, and from twice as much after each that was not. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** What a server may ask for with `retry:` or `Retry-After`. */
const ASKED_PAUSE_MS_MAX = 300_000
/** A connection of that age was good although nothing happened. */
const GOOD_AFTER_MS = 10_000
const REFUSAL_MS_MAX = 10_000

/** Statuses that say "not now". Every other refusal will stay one. */
const PASSING = new Set([408, 429, 500, 502, 503, 504])
const FATAL_FAULTS: ReadonlySet<CutReason> = new Set(['untrusted', 'unreadable'])

/**
 * Holds a stream of server-sent events over any number of connections, each resumed after the last frame that was taken,
 * with full jitter between them on top of `retry:` and `Retry-After`. Resolves when the signal ends it. Throws
 * `ProblemAnswer` for a refusal that stays one, `TransportFailure` where it never opened or the answer is no stream.
 * Holds a frame and a chunk in memory at most.
 */
export async function followStream(options: FollowOptions, listener: StreamListener): Promise<void> {
  const { signal, triesMax = Infinity, clock = systemRetryClock } = options
  const state: StreamState = { lastEventId: options.lastEventId, retryMs: 0, hasOpened: false, isGood: false }
  for (let bad = 0, tries = 1; !signal.aborted; tries += 1) {
    const over = await connection(options, state, listener)
    if (signal.aborted) return
    bad = state.isGood ? 0 : bad + 1
    if (isFinal(over) || (!state.hasOpened && tries >= triesMax)) throw over.cause
    const widest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, bad - 1))
    const pauseMs = Math.min(ASKED_PAUSE_MS_MAX, Math.max(state.retryMs, askedMs(over))) + clock.random() * widest
    listener.cut?.({ ...over, pauseMs })
    // It rejects only because the signal has ended it, and so ends the loop.
    await clock.sleep(pauseMs, signal).catch(() => undefined)
  }
}

interface StreamState {
  lastEventId: string | undefined
  /** The last `retry:` of the server. */
  retryMs: number
  hasOpened: boolean
  /** Whether the last connection was worth making. */
  isGood: boolean
}

type Over = Omit<Cut, 'pauseMs'>

function isFinal({ reason, cause }: Over): boolean {
  if (reason === 'refused') return cause instanceof ProblemAnswer && !PASSING.has(cause.status)
  return FATAL_FAULTS.has(reason)
}

function askedMs({ cause }: Over): number {
  return cause instanceof ProblemAnswer ? (cause.retryAfterSeconds ?? 0) * 1000 : 0
}

/** Makes one connection and holds it to its end. */
async function connection(options: FollowOptions, state: StreamState, listener: StreamListener): Promise<Over> {
  const { clock = systemRetryClock, silenceMsMax = SILENCE_MS_MAX } = options
  const startedMs = clock.nowMs()
  state.isGood = false
  const answer = await askFor(options, state)
  if ('reason' in answer) return answer
  state.hasOpened = true
  listener.opened?.()
  const over = await readFrames(answer.body, { signal: options.signal, state, listener, silenceMsMax })
  state.isGood ||= clock.nowMs() - startedMs >= GOOD_AFTER_MS
  return over
}

async function askFor({ connect, signal }: FollowOptions, { lastEventId }: StreamState): Promise<OpenAnswer | Over> {
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

function refusedBy(cause: ProblemAnswer | TransportFailure): Over {
  return { reason: cause instanceof ProblemAnswer ? 'refused' : cause.fault, cause }
}

function unreadable(answer: OpenAnswer): Over {
  return { reason: 'unreadable', cause: foreignServer(answer) }
}

interface Reading {
  readonly signal: AbortSignal
  readonly state: StreamState
  readonly listener: StreamListener
  readonly silenceMsMax: number
}

/** Reads frame by frame to the end of a connection. */
async function readFrames(body: Readable, reading: Reading): Promise<Over> {
  const inbox = createInbox(reading.state)
  const silence = watchSilence(body, reading.silenceMsMax)
  const chunks = body.setEncoding('utf8')[Symbol.asyncIterator]()
  try {
    for (;;) {
      silence.listen()
      const chunk = await nextChunk(chunks)
      if (typeof chunk !== 'string') return inbox.isBetweenFrames() ? chunk : { ...chunk, reason: 'truncated' }
      silence.rest()
      const over = await takeAll(inbox.feed(chunk), reading)
      if (over !== undefined) return over
      if (inbox.isOverfull()) return { reason: 'frame_too_large', cause: undefined }
    }
  } finally {
    silence.stop()
    body.destroy()
  }
}

/** A chunk, or how the connection ended. */
async function nextChunk(chunks: AsyncIterator<string>): Promise<string | Over> {
  try {
    const { done, value } = await chunks.next()
    return done === true ? { reason: 'ended', cause: undefined } : value
  } catch (error) {
    if (error instanceof Silence) return { reason: 'silent', cause: undefined }
    const failure = asFailure(error)
    return { reason: failure.fault, cause: failure }
  }
}

async function takeAll(frames: readonly Frame[], { state, listener, signal }: Reading): Promise<Over | undefined> {
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

/** Makes frames of chunks, within the bound. */
function createInbox(state: StreamState) {
  let frames: Frame[] = []
  let isOverfull = false
  /** As much of the end as a blank line can have. */
  let tail = ''
  const parser = createParser({
    maxBufferSize: FRAME_CHARACTERS_MAX,
    onEvent({ id, event = 'message', data }) {
      if (data.length > FRAME_CHARACTERS_MAX) isOverfull = true
      else if (!isOverfull) frames.push({ id, event, data })
    },
    onRetry(ms) {
      state.retryMs = ms
    },
    onError({ type }) {
      isOverfull ||= type === 'max-buffer-size-exceeded'
    },
  })
  return {
    feed(chunk: string): readonly Frame[] {
      frames = []
      tail = (tail + chunk).slice(-4)
      parser.feed(chunk)
      return frames
    },
    isOverfull: () => isOverfull,
    isBetweenFrames: () => tail === '' || /(?:\n\n|\r\r|\r\n\r\n)$/.test(tail),
  }
}

class Silence extends Error {}

/** Ends a body from which nothing comes while it is listened to. */
function watchSilence(body: Readable, silenceMsMax: number) {
  let isListening = false
  const timer = setTimeout(() => {
    if (isListening) body.destroy(new Silence())
  }, silenceMsMax)
  return {
    listen(): void {
      isListening = true
      timer.refresh()
    },
    /** Anyone who is slow to take a frame is not taken for a dead server. */
    rest(): void {
      isListening = false
    },
    stop: () => clearTimeout(timer),
  }
}
