import type { Logger } from 'pino'
import type { nodeEvents } from '../../../shared/contract/node-events.ts'
import type { StreamAnswer } from '../../../shared/contract/operation.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { EventBus } from '../../ports/event-bus.ts'
import type { Signer } from '../../ports/signer.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'
import { parseLastEventId } from '../../http/streams/last-event-id.ts'
import { beginningFailure } from '../../http/streams/outage.ts'
import { countingRefusals, type StreamMeter } from '../../http/streams/stream-meter.ts'
import { begin } from './stream-catch-up.ts'
import { createHub } from './hub.ts'
import type { NodeStream } from './stream.ts'
import { domainOfNode } from '../../sql/node-domain.ts'
import { publishedUpTo } from './store.ts'

export interface NodeEventsDeps {
  readonly bus: EventBus
  readonly datastore: Datastore
  readonly signer: Signer
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  readonly meter: StreamMeter
  readonly usage: UsageMeter
  /** How often a stream gets a keep-alive and a new authorization check, ms; default 25 s (S0). */
  readonly keepAliveMs?: number
  /** Pause before the next attempt to follow the bus, ms; default 1 s. */
  readonly retryMs?: number
}

/** Serves the event streams of nodes. */
export interface NodeEvents {
  readonly handlers: Handlers<typeof nodeEvents>
  /** Begins to follow the bus. Resolves after the first attempt; later ones run in the background. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Maximum of streams of one node on one replica: of its own credential, and of operators (decisions: Stream). */
const STREAMS_MAX = 4
const KEEP_ALIVE_MS = 25_000
const RETRY_MS = 1_000

export function createNodeEvents(deps: NodeEventsDeps): NodeEvents {
  const { bus, datastore, log, meter, usage, keepAliveMs = KEEP_ALIVE_MS, retryMs = RETRY_MS } = deps
  const db = () => datastore.pool('interactive')
  const catchUpDeps = { resync: deps, publishedUpTo: (nodeId: string) => publishedUpTo(db(), nodeId) }
  const hub = createHub({ bus, catchUpDeps, meter, usage, log, keepAliveMs, retryMs })

  async function subscribe(ctx: RequestContext, nodeId: string): Promise<StreamAnswer> {
    const claimed = parseLastEventId(ctx.requestHeader('Last-Event-ID'))
    const isOwn = ctx.caller.kind === 'node'
    const domainId = isOwn ? ctx.caller.domainId : await domainOfNode(db(), nodeId)
    if (domainId === undefined) throw problem('node_not_found')
    if (!hub.isFollowing()) throw problem('event_stream_unavailable')
    if (hub.countOf(nodeId, isOwn) >= STREAMS_MAX) {
      throw problem('session_limit_exceeded', { retry_after_seconds: Math.ceil(keepAliveMs / 1000) })
    }
    const node = { nodeId, domainId }
    const seq = claimed ?? hub.position()
    const isClaimed = claimed !== undefined
    const stream = hub.open({ node, isOwn, reauthorization: ctx.reauthorization(), seq, isClaimed })
    return isClaimed ? prepared(stream) : stream
  }

  /** The answer waits until it is known that the stream can resume from there. */
  async function prepared(stream: NodeStream): Promise<NodeStream> {
    try {
      stream.beginWith(await begin(hub.catchUpDeps, stream))
      return stream
    } catch (error) {
      stream.ended('operation')
      throw beginningFailure(error)
    }
  }

  return {
    handlers: {
      GetNodeEvents: (ctx, { id }) => countingRefusals(meter, subscribe(ctx, id)),
    },
    start: () => hub.start(),
    stop: () => hub.stop(),
  }
}
