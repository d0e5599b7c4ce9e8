import type { Logger } from 'pino'
import type { domainEvents } from '../../../shared/contract/domain-events.ts'
import type { StreamAnswer } from '../../../shared/contract/operation.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { parseLastEventId } from '../../http/streams/last-event-id.ts'
import { beginningFailure } from '../../http/streams/outage.ts'
import { countingRefusals, type StreamMeter } from '../../http/streams/stream-meter.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'
import { createHub } from './hub.ts'
import { isGone } from './replay.ts'
import { readBounds, type Bounds } from './store.ts'

export interface DomainEventsDeps {
  readonly datastore: Datastore
  readonly signer: Signer
  readonly clock: Clock
  readonly log: Logger
  readonly meter: StreamMeter
  readonly usage: UsageMeter
  /** How often a stream gets a keep-alive and a new authorization check, ms; default 25 s, as streams of nodes. */
  readonly keepAliveMs?: number
  /** Pause between two looks at the outbox, ms; default 250 ms. */
  readonly pollMs?: number
}

/** Serves the event streams of Domains. */
export interface DomainEvents {
  readonly handlers: Handlers<typeof domainEvents>
  stop(): Promise<void>
}

/** Maximum of streams on one replica: of one reader, and of one Domain. */
const STREAMS_MAX = { ofReader: 8, ofDomain: 64 }
const KEEP_ALIVE_MS = 25_000
const POLL_MS = 250

export function createDomainEvents(deps: DomainEventsDeps): DomainEvents {
  const { datastore, meter, keepAliveMs = KEEP_ALIVE_MS, pollMs = POLL_MS } = deps
  const db = () => datastore.pool('worker')
  const hub = createHub({ ...deps, db, keepAliveMs, pollMs })

  async function subscribe(ctx: RequestContext, domainId: string): Promise<StreamAnswer> {
    const claimed = parseLastEventId(ctx.requestHeader('Last-Event-ID'))
    const bounds = await boundsNow()
    const { subject } = ctx.caller
    const isFull = hub.countOf({ subject }) >= STREAMS_MAX.ofReader || hub.countOf({ domainId }) >= STREAMS_MAX.ofDomain
    if (isFull) throw problem('session_limit_exceeded', { retry_after_seconds: Math.ceil(keepAliveMs / 1000) })
    const { head } = bounds
    const isLost = claimed !== undefined && isGone(claimed, bounds)
    const seq = isLost ? head : (claimed ?? head)
    return hub.open({ domainId, subject, reauthorization: ctx.reauthorization(), seq, isLost }, head)
  }

  async function boundsNow(): Promise<Bounds> {
    try {
      return await readBounds(db())
    } catch (error) {
      throw beginningFailure(error)
    }
  }

  return {
    handlers: {
      GetDomainEvents: (ctx, { domain_id: id }) => countingRefusals(meter, subscribe(ctx, id)),
    },
    async stop() {
      hub.stop()
    },
  }
}
