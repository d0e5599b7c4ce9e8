import { followStream, type Cut, type Frame, type StreamListener } from '../../event-stream.ts'
import { ProblemAnswer } from '../../failures.ts'
import { createFrameVerifier, type FrameFault, type FrameVerification } from '../../../shared/events/frame-verifier.ts'
import { isResync } from '../../../shared/events/payloads.ts'
import type { ReceivedEvent } from './handle-event.ts'
import type { AgentDeps } from '../agent-deps.ts'
import { confirmStream, streamFailureCode } from './confirm-stream.ts'
import type { HeldStream } from './held-stream.ts'
import type { NodeStreams } from './node-streams.ts'
import { isRefusedKey } from '../calls/refused-key.ts'
import type { Member } from '../member.ts'
import type { EventCount } from '../counts.ts'
import { createStreamPosition, type StreamPosition } from './stream-position.ts'
import { createConnections, type ConnectionDeps } from './stream-connections.ts'

export interface StreamDeps<M extends Member> extends Pick<AgentDeps, 'clock'>, ConnectionDeps {
  readonly streams: NodeStreams
  /** Called once with each verified event. */
  readonly onEvent?: (node: M, received: ReceivedEvent) => void
  /** Called after a frame that was dropped, because it is no genuine event of the node. */
  readonly onDropped?: (node: M) => void
  /** Called when the server has refused the node's secret key. The stream has ended then. */
  readonly onRefused?: (node: M, code: string) => void
  /** Pause before a stream is opened again after an answer that is not the server's, or a refusal of another kind; never by default. */
  readonly reopensAfterMs?: number
}

/** Faults that mean that the event does not come from the server. */
const FORGERIES: ReadonlySet<FrameFault> = new Set(['bad_signature', 'unknown_key', 'expired_key'])

/** Holds the event stream of a node over any number of connections. Verifies every event and counts the results. */
export function holdStream<M extends Member>(deps: StreamDeps<M>, node: M): HeldStream {
  const { clock, statistics, streams } = deps
  const { identity } = node
  const position = createStreamPosition(identity)
  const { order } = position
  const verifier = createFrameVerifier({ verify: streams.verify, nodeId: identity.node_id, order })
  const ending = new AbortController()
  const connect = streams.connect(node)
  const firstTry = withResolvers()
  const connections = createConnections(deps, node)
  let frameMs = 0

  const listener: StreamListener = {
    opened() {
      verifier.connected()
      connections.opened()
      firstTry.resolve()
    },
    async frame(frame) {
      if (frameMs > 0) await clock.pause(frameMs, ending.signal)
      const missing = order.missing()
      const verification = await verifier.verify(frame)
      for (const name of countsOf(verification)) statistics.count(name)
      statistics.count('missed_events', order.missing() - missing)
      if (!verification.ok) return passOver(deps, node, { position, frame, fault: verification.fault })
      position.accept(frame.id, verification.envelope)
      deps.onEvent?.(node, verification)
      return true
    },
    cut(cut) {
      connections.ended(failureOf(cut))
      firstTry.resolve()
      if (cut.reason === 'frame_too_large') statistics.count('refused_frames')
    },
  }
  const connection = connections.timed(connect)
  /** Resolves with the refusal that ended the stream; undefined if it was stopped. */
  async function followToEnd(): Promise<string | undefined> {
    const { last_event_id: lastEventId } = position.progress()
    const code = await followStream({ connect: connection, signal: ending.signal, lastEventId }, listener).then(
      () => undefined,
      streamFailureCode,
    )
    connections.ended(code)
    firstTry.resolve()
    return code
  }
  const following = reopening(deps, node, { followToEnd, until: ending.signal })

  return {
    firstTry: firstTry.promise,
    progress: () => position.progress(),
    confirm: (until) => confirmStream(deps, node, { order, until }),
    isOpen: () => connections.isOpen(),
    cut: () => connections.cut(),
    slowDown(ms) {
      frameMs = ms
    },
    stop() {
      ending.abort()
      return following
    },
  }
}

interface PassedOver {
  readonly position: StreamPosition
  readonly frame: Frame
  readonly fault: FrameFault
}

/** Passes over a frame. Returns whether the stream resumes after it: an event that was seen before is dealt with. */
function passOver<M extends Member>(
  { onDropped }: Pick<StreamDeps<M>, 'onDropped'>,
  node: M,
  { position, frame, fault }: PassedOver,
): boolean {
  if (fault !== 'duplicate') onDropped?.(node)
  else position.pass(frame.id)
  return fault === 'duplicate'
}

interface Followed {
  readonly followToEnd: () => Promise<string | undefined>
  readonly until: AbortSignal
}

/** Follows a stream until it is stopped or the node's key is refused; without `reopensAfterMs` until any final refusal. */
async function reopening<M extends Member>(
  { clock, onRefused, reopensAfterMs }: StreamDeps<M>,
  node: M,
  { followToEnd, until }: Followed,
): Promise<void> {
  for (;;) {
    const code = await followToEnd()
    if (code !== undefined && isRefusedKey(code)) {
      const isKnown = node.isKeyRefused
      node.isKeyRefused = true
      return isKnown ? undefined : onRefused?.(node, code)
    }
    if (code === undefined || reopensAfterMs === undefined) return
    await clock.pause(reopensAfterMs, until)
  }
}

function countsOf(verification: FrameVerification): readonly EventCount[] {
  if (!verification.ok) {
    if (verification.fault === 'duplicate') return ['duplicate_events']
    return [FORGERIES.has(verification.fault) ? 'bad_signatures' : 'refused_frames']
  }
  const { envelope, place } = verification
  return [
    'events',
    ...(place.kind === 'reordered' ? (['reordered_events'] as const) : []),
    ...(isResync(envelope) ? (['resyncs'] as const) : []),
  ]
}

/** The code under which a cut is counted; undefined for a regular end. */
function failureOf({ reason, cause }: Cut): string | undefined {
  if (reason === 'ended') return undefined
  return cause instanceof ProblemAnswer ? cause.code : reason
}

function withResolvers() {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
