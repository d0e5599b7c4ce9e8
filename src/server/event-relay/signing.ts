import { setImmediate } from 'node:timers/promises'
import { canonicalEnvelope, signedEnvelope } from '../../shared/events/envelope.ts'
import { problem } from '../../shared/problems.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Appended, EnlistedAppend, EventBus } from '../ports/event-bus.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { Signer } from '../ports/signer.ts'
import type { RelayCounters } from './counters.ts'
import { keepFailures, keepSigned, readUnsigned, type Failure, type Outgoing, type Signed } from './outgoing-store.ts'
import { createRendering } from './rendering.ts'
import { countStored, settle, settlementOf } from './settlement.ts'

export interface SigningDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly signer: Signer
  /** What is signed goes to the stream in the same transaction where that can be; else it waits for it. */
  readonly bus: Pick<EventBus, 'enlisted'>
  readonly counters: Pick<RelayCounters, 'signingFailed' | 'published'>
  /** Called when there are signed events that wait, and that is committed. */
  readonly onSigned: () => void
  /** Hears of events that hold up the later ones of their nodes. */
  readonly onFailures: (failures: readonly Failure[]) => void
}

/** The job to wake when there are events that want their signature. */
export const SIGNING = 'event-signing'

const EVERY_MS = 250
const EVENTS_MAX = 500
/** Events signed before requests, and answers of the datastore, get their turn: less than a millisecond of this process. */
const AT_ONCE_MAX = 10
/** How long a lane is held up before the event that holds it up is tried again. */
export const RETRY_MS = 60_000

/** What a pass made of events. */
interface Outcome {
  readonly signed: Signed[]
  readonly failed: Failure[]
}

/** Signs events in the order in which they were put on their way, once each, and keeps or publishes what it signed. */
export function createSigning(deps: SigningDeps): LeaderJob {
  const { datastore, clock, counters, signer } = deps
  const { enlisted } = deps.bus
  const worker = datastore.pool('worker')
  const render = createRendering()

  /** @throws whatever the signer does, with what was done until then in `outcome`: without it nothing is passed by. */
  async function signInto(outcome: Outcome, events: readonly Outgoing[]): Promise<void> {
    const held = new Set<string>()
    for (const [index, event] of events.entries()) {
      if (index % AT_ONCE_MAX === AT_ONCE_MAX - 1) await setImmediate()
      if (held.has(event.nodeId)) continue
      const payload = orFailure(() => render(event))
      if (payload instanceof Unrenderable) {
        held.add(event.nodeId)
        outcome.failed.push({ id: event.id, nodeId: event.nodeId, reason: payload.message })
      } else outcome.signed.push({ ...event, wire: await wireOf(signer, event, payload) })
    }
  }

  async function keep(leading: Leading, { signed, failed }: Outcome): Promise<void> {
    await leading.transaction(async (tx) => {
      await keepSigned(tx, signed)
      await keepFailures(tx, failed, new Date(clock.now()))
    })
    if (signed.length > 0) deps.onSigned()
    if (failed.length > 0) deps.onFailures(failed)
  }

  /** What the stream refuses keeps its signature; what that holds up stays unsigned behind it. */
  async function publish(leading: Leading, to: EnlistedAppend, { signed, failed }: Outcome): Promise<void> {
    let appended: Appended | undefined
    let isCommitted = false
    try {
      const settlement = await leading.transaction(async (tx) => {
        appended = await to.append(tx, signed)
        const settled = settlementOf(signed, appended.outcomes)
        const all = { ...settled, failures: [...failed, ...settled.failures] }
        await keepSigned(tx, all.refused)
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
      await signInto(outcome, events)
    } catch (error) {
      counters.signingFailed()
      throw error
    } finally {
      const isEmpty = outcome.signed.length + outcome.failed.length === 0
      if (!isEmpty) await (enlisted === undefined ? keep(leading, outcome) : publish(leading, enlisted, outcome))
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

/** Why an event has no text that could be signed. */
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

/** Two, in case the key changes in between. */
const KEYS_MAX = 2

/** The signed envelope. The key is named in what it signs: where another one signed, it is done again. */
async function wireOf(signer: Signer, event: Outgoing, payload: string): Promise<string> {
  let named = signer.keys()[0]?.kid
  for (let tries = 0; tries < KEYS_MAX && named !== undefined; tries += 1) {
    const canonical = canonicalEnvelope({
      domain_id: event.domainId,
      event_id: event.eventId,
      kid: named,
      node_id: event.nodeId,
      node_seq: event.nodeSeq,
      occurred_at: event.occurredAt.toISOString(),
      payload,
      type: event.type,
    })
    const { kid, signature } = await signer.sign(Buffer.from(canonical))
    if (kid === named) return signedEnvelope(canonical, signature.toString('base64url'))
    named = kid
  }
  throw problem('signing_unavailable')
}
