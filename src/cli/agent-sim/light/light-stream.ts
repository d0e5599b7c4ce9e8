import type { Socket } from 'node:net'
import { countStreamFailure } from '../../../client/agent/events/stream-connections.ts'
import { confirmStream, type ConfirmDeps } from '../../../client/agent/events/confirm-stream.ts'
import type { HeldStream } from '../../../client/agent/events/held-stream.ts'
import { createStreamPosition, type StreamPosition } from '../../../client/agent/events/stream-position.ts'
import { isRefusedKey } from '../../../client/agent/calls/refused-key.ts'
import { refusalOf } from '../../../client/client.ts'
import {
  GOOD_AFTER_MS,
  isFinalRefusalOfStream,
  pauseBeforeConnectionMs,
  SILENCE_MS_MAX,
  type Frame,
} from '../../../client/event-stream.ts'
import { TransportFailure } from '../../../client/failures.ts'
import { asFailure } from '../../../client/transport.ts'
import type { Place } from '../../../shared/events/order.ts'
import type { CallingDeps } from '../agent/agent-deps.ts'
import { AnswerReader, headersOf, type AnswerHead, type AnswerParts } from './answer-reader.ts'
import { endOfFrames, isTooLong, type FrameReader, type FrameSink } from './frame-reader.ts'
import type { LightNode } from './light-node.ts'
import { readLightEvent, type LightEvent } from './light-event.ts'

export interface LightStreamDeps
  extends Omit<ConfirmDeps, 'statistics'>, Pick<CallingDeps, 'statistics' | 'wheel' | 'isOutage'> {
  /** Connects and requests the stream of a node after that event. */
  readonly request: (node: LightNode, lastEventId: string) => Promise<Socket>
  readonly readFrames: FrameReader
  /** Called with each event that was not seen before. */
  readonly onEvent: (node: LightNode, event: LightEvent, place: Place) => void
  /** Called when the stream has ended for good. */
  readonly onEnded: (node: LightNode) => void
}

const OK = 200
const REFUSAL_STATUS_MIN = 400
const REFUSAL_BYTES_MAX = 64 * 1024

/**
 * Holds the event stream of a light agent: numbers and order are verified, signatures are not. At rest it is a socket and a few
 * numbers: no timer, no pending promise, no parser. A class as `AnswerReader` is.
 */
export class LightStream implements HeldStream, AnswerParts, FrameSink {
  readonly firstTry: Promise<void>
  readonly #deps: LightStreamDeps
  readonly #node: LightNode
  readonly #position: StreamPosition
  #tried: () => void = () => undefined
  #socket: Socket | undefined
  #reader: AnswerReader | undefined
  #held: Buffer | undefined
  #refusing: AnswerHead | undefined
  #isOpen = false
  #isStopped = false
  #isCut = false
  #isGood = false
  #connections = 0
  #bad = 0
  #retryMs = 0
  #startedMs = 0
  #lastByteMs = 0

  constructor(deps: LightStreamDeps, node: LightNode) {
    this.#deps = deps
    this.#node = node
    this.#position = createStreamPosition(node.identity)
    this.firstTry = new Promise((resolve) => (this.#tried = resolve))
    this.#connectSoon()
  }

  progress(): ReturnType<HeldStream['progress']> {
    return this.#position.progress()
  }

  isOpen(): boolean {
    return this.#isOpen
  }

  confirm(until: AbortSignal): Promise<void> {
    return confirmStream(this.#deps, this.#node, { order: this.#position.order, until })
  }

  cut(): void {
    this.#isCut = this.#isOpen
    this.#socket?.destroy()
  }

  /** Light agents read at once. */
  slowDown(): void {}

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#socket?.destroy()
    this.#disconnected(undefined)
  }

  /** Closes a connection that has been silent for too long. Called from time to time. */
  closeIfSilent(nowMs: number): void {
    if (this.#socket === undefined || nowMs - this.#lastByteMs < SILENCE_MS_MAX) return
    this.#lost('silent')
  }

  #connectSoon(): void {
    this.#connect().catch((error: unknown) => this.#lost(asFailure(error).fault))
  }

  async #connect(): Promise<void> {
    if (this.#isStopped) return
    this.#startedMs = this.#lastByteMs = performance.now()
    const socket = await this.#deps.request(this.#node, this.#position.progress().last_event_id)
    if (this.#isStopped) {
      socket.destroy()
      return
    }
    this.#socket = socket
    this.#reader = new AnswerReader(this)
    socket.on('data', (chunk) => this.#take(socket, chunk))
    socket.on('error', (error) => this.#lostOn(socket, asFailure(error).fault))
    socket.on('end', () => {
      if (socket === this.#socket) this.#reader?.close()
    })
    socket.on('close', () => this.#lostOn(socket, 'broken'))
  }

  #take(socket: Socket, chunk: Buffer): void {
    if (socket !== this.#socket) return
    this.#lastByteMs = performance.now()
    try {
      this.#reader?.feed(chunk)
    } catch (error) {
      this.#lost(asFailure(error).fault)
    }
  }

  head(head: AnswerHead): void {
    const { status } = head
    if (status === OK && /^content-type: *text\/event-stream/im.test(head.text)) return this.#opens()
    this.#refusing = head
    if (status < REFUSAL_STATUS_MIN) this.#ended('unreadable')
  }

  #opens(): void {
    const { statistics } = this.#deps
    statistics.succeeded('stream', performance.now() - this.#startedMs)
    this.#isOpen = true
    this.#connections += 1
    this.#position.order.connected()
    statistics.count('streams')
    if (this.#connections > 1) statistics.count('stream_reconnects')
    this.#tried()
  }

  body(bytes: Buffer): void {
    // The connection was given up at an earlier part of the same bytes.
    if (this.#socket === undefined) return
    const all = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    const end = this.#isOpen ? endOfFrames(all) : 0
    this.#held = end === all.length ? undefined : Buffer.from(all.subarray(end))
    if (end > 0) this.#deps.readFrames(all.subarray(0, end), this)
    if (this.#held === undefined) return
    if (this.#isOpen ? isTooLong(this.#held) : this.#held.length > REFUSAL_BYTES_MAX) this.#tooLong()
  }

  #tooLong(): void {
    if (this.#isOpen) this.#deps.statistics.count('refused_frames')
    this.#lost(this.#isOpen ? 'frame_too_large' : 'unreadable')
  }

  end(): void {
    if (this.#socket === undefined) return
    if (this.#refusing !== undefined) this.#refused(this.#refusing)
    else this.#lost(this.#held === undefined ? undefined : 'truncated')
  }

  retry(ms: number): void {
    this.#retryMs = ms
  }

  frame({ id, data }: Frame): void {
    const { statistics } = this.#deps
    const event = readLightEvent(data, this.#node.identity.node_id)
    if (event === undefined) return statistics.count('refused_frames')
    const { order } = this.#position
    const missing = order.missing()
    const place = order.take(event)
    statistics.count('missed_events', order.missing() - missing)
    if (place.kind === 'duplicate') {
      statistics.count('duplicate_events')
      return this.#position.pass(id)
    }
    this.#position.accept(id, event.envelope)
    return this.#accept(event, place)
  }

  #accept(event: LightEvent, place: Place): void {
    const { statistics, onEvent } = this.#deps
    this.#isGood = true
    statistics.count('events')
    if (place.kind === 'reordered') statistics.count('reordered_events')
    if (event.isResync) statistics.count('resyncs')
    onEvent(this.#node, event, place)
  }

  #refused(head: AnswerHead): void {
    const answer = { status: head.status, headers: headersOf(head), body: this.#held ?? Buffer.alloc(0) }
    const refusal = refusalOf(answer)
    if (refusal instanceof TransportFailure) return this.#ended(refusal.fault)
    if (isRefusedKey(refusal.code)) this.#node.isKeyRefused = true
    if (isFinalRefusalOfStream(refusal)) return this.#ended(refusal.code)
    return this.#lost(refusal.code, (refusal.retryAfterSeconds ?? 0) * 1000)
  }

  /** Ends the stream for good. */
  #ended(code: string): void {
    this.#isStopped = true
    this.#socket?.destroy()
    this.#disconnected(code)
    this.#deps.onEnded(this.#node)
  }

  #lostOn(socket: Socket, code: string): void {
    if (socket === this.#socket) this.#lost(code)
  }

  /** Closes the connection, and connects again after a pause. */
  #lost(code: string | undefined, requestedMs = 0): void {
    const { clock, wheel } = this.#deps
    const isLong = this.#isOpen && performance.now() - this.#startedMs >= GOOD_AFTER_MS
    this.#bad = this.#isGood || isLong ? 0 : this.#bad + 1
    this.#disconnected(code)
    if (this.#isStopped) return
    const requests = { bad: this.#bad, requestedMs: Math.max(requestedMs, this.#retryMs) }
    wheel.after(pauseBeforeConnectionMs({ ...requests, random: () => clock.random() }), () => this.#connectSoon())
  }

  #disconnected(code: string | undefined): void {
    const socket = this.#socket
    const [wasOpen, wasCut] = [this.#isOpen, this.#isCut]
    this.#socket = this.#reader = this.#held = this.#refusing = undefined
    this.#isOpen = this.#isCut = this.#isGood = false
    socket?.destroy()
    if (wasOpen) this.#deps.statistics.count('streams', -1)
    if (code !== undefined && !wasCut) countStreamFailure(this.#deps, this.#node, code)
    this.#tried()
  }
}
