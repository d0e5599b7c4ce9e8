import { setImmediate } from 'node:timers/promises'
import { canonicalEnvelope, signedEnvelope } from '../../shared/events/envelope.ts'
import { problem } from '../../shared/problems.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Appended, EnlistedAppend, EventBus } from '../ports/event-bus.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { Signer } from '../ports/signer.ts'
import type { RelayCounters } from './counters.ts'
import { storeFailures, storeSigned, readUnsigned, type Failure, type Outgoing, type Signed } from './outgoing-store.ts'
import { createRendering } from './rendering.ts'
import { countStored, settle, settlementOf } from './settlement.ts'

export interface SigningDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly signer: Signer
  /** With `enlisted`, signed events are published in the same transaction; otherwise the publishing job does it. */
  readonly bus: Pick<EventBus, 'enlisted'>
  readonly counters: Pick<RelayCounters, 'signingFailed' | 'published'>
  /** Called after signed events were stored for publishing and committed. */
  readonly onSigned: () => void
  /** Called with failed events, which block the later events of their nodes. */
  readonly onFailures: (failures: readonly Failure[]) => void
}

/** Name of the job to wake when there are unsigned events. */
export const SIGNING = 'event-signing'

const EVERY_MS = 250
const EVENTS_MAX = 500
/** Number of events that are rendered before the event loop runs other work: less than a millisecond. */
const AT_ONCE_MAX = 25
/** How long a lane stays blocked before its failed event is tried again. */
export const RETRY_MS = 60_000

/** The result of one pass. */
interface Outcome {
  readonly signed: Signed[]
  readonly failed: Failure[]
}

/**
 * Makes the job that signs events, once each and in the order in which they were enqueued, and stores or publishes
 * them.
 */
export function createSigning(deps: SigningDeps): LeaderJob {
  const { datastore, clock, counters, signer } = deps
  const { enlisted } = deps.bus
  const worker = datastore.pool('worker')
  const render = createRendering()

  /** Renders what can be rendered. An event that cannot be blocks the later ones of its node. */
  async function renderInto(outcome: Outcome, events: readonly Outgoing[]): Promise<readonly Outgoing[]> {
    const blocked = new Set<string>()
    const rendered: Outgoing[] = []
    for (const [index, event] of events.entries()) {
      if (index % AT_ONCE_MAX === AT_ONCE_MAX - 1) await setImmediate()
      if (blocked.has(event.nodeId)) continue
      const payload = orFailure(() => render(event))
      if (payload instanceof Unrenderable) {
        blocked.add(event.nodeId)
        outcome.failed.push({ id: event.id, nodeId: event.nodeId, reason: payload.message })
      } else rendered.push({ ...event, payload })
    }
    return rendered
  }

  async function store(leading: Leading, { signed, failed }: Outcome): Promise<void> {
    await leading.transaction(async (tx) => {
      await storeSigned(tx, signed)
      await storeFailures(tx, failed, new Date(clock.now()))
    })
    if (signed.length > 0) deps.onSigned()
    if (failed.length > 0) deps.onFailures(failed)
  }

  /** A refused event keeps its signature. The events that it blocks stay unsigned. */
  async function publish(leading: Leading, to: EnlistedAppend, { signed, failed }: Outcome): Promise<void> {
    let appended: Appended | undefined
    let isCommitted = false
    try {
      const settlement = await leading.transaction(async (tx) => {
        appended = await to.append(tx, signed)
        const settled = settlementOf(signed, appended.outcomes)
        const all = { ...settled, failures: [...failed, ...settled.failures] }
        await storeSigned(tx, all.refused)
        await settle(tx, all, new Date(clock.now()))
        return all
      })
      isCommitted = true
      countStored(counters, settlement)
      if (settlement.failures.length > 0) deps.onFailures(settlement.failures)
    } finally {
      appended?.onEnd(isCommitted)
    }
  }

  async function sign(leading: Leading, events: readonly Outgoing[]): Promise<void> {
    const outcome: Outcome = { signed: [], failed: [] }
    try {
      const rendered = await renderInto(outcome, events)
      if (rendered.length > 0) outcome.signed.push(...(await signAll(signer, rendered)))
    } catch (error) {
      counters.signingFailed()
      throw error
    } finally {
      const isEmpty = outcome.signed.length + outcome.failed.length === 0
      if (!isEmpty) await (enlisted === undefined ? store(leading, outcome) : publish(leading, enlisted, outcome))
    }
  }

  return {
    name: SIGNING,
    everyMs: EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const triedBefore = new Date(clock.now() - RETRY_MS)
      const afterSigned = enlisted !== undefined
      const { events, isMore } = await readUnsigned(worker, { max: EVENTS_MAX, triedBefore, afterSigned })
      if (events.length > 0) await sign(leading, events)
      return isMore
    },
  }
}

/** The reason why an event cannot be rendered. */
class Unrenderable extends Error {}

const REASON_CHARS = 1_000

function orFailure(render: () => string): string | Unrenderable {
  try {
    return render()
  } catch (error) {
    return new Unrenderable((error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARS), {
      cause: error,
    })
  }
}

/** Two tries, because the key may be rotated between them. */
const KEYS_MAX = 2

/**
 * Signs the envelopes with one key. They name it, so that they are signed again if the signer used another key.
 *
 * @throws the error of the signer: then none of them is signed, and all are signed by a later pass.
 */
async function signAll(signer: Signer, rendered: readonly Outgoing[]): Promise<readonly Signed[]> {
  let named = signer.keys()[0]?.kid
  for (let tries = 0; tries < KEYS_MAX && named !== undefined; tries += 1) {
    const texts = await canonicalTexts(rendered, named)
    const { kid, signatures } = await signer.signMany(texts.map((text) => Buffer.from(text)))
    if (kid === named) return rendered.map((event, index) => signedEvent(event, texts[index], signatures[index]))
    named = kid
  }
  throw problem('signing_unavailable')
}

async function canonicalTexts(rendered: readonly Outgoing[], kid: string): Promise<readonly string[]> {
  const texts: string[] = []
  for (const [index, event] of rendered.entries()) {
    if (index % AT_ONCE_MAX === AT_ONCE_MAX - 1) await setImmediate()
    texts.push(canonicalText(event, kid))
  }
  return texts
}

function canonicalText(event: Outgoing, kid: string): string {
  return canonicalEnvelope({
    domain_id: event.domainId,
    event_id: event.eventId,
    kid,
    node_id: event.nodeId,
    node_seq: event.nodeSeq,
    occurred_at: event.occurredAt.toISOString(),
    payload: event.payload,
    type: event.type,
  })
}

/** @throws Error where the signer gave fewer signatures than texts. */
function signedEvent(event: Outgoing, text: string | undefined, signature: Buffer | undefined): Signed {
  if (text === undefined || signature === undefined) throw new Error('a signer gave too few signatures')
  return { ...event, wire: signedEnvelope(text, signature.toString('base64url')) }
}
