import { setImmediate } from 'node:timers/promises'
import { canonicalEnvelope, signedEnvelope } from '../../shared/events/envelope.ts'
import { problem } from '../../shared/problems.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { Signer } from '../ports/signer.ts'
import type { RelayCounters } from './counters.ts'
import { keepFailures, keepSigned, readUnsigned, type Failure, type Outgoing } from './outgoing-store.ts'
import { createRendering } from './rendering.ts'

export interface SigningDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly signer: Signer
  readonly counters: Pick<RelayCounters, 'signingFailed'>
  /** Called when events were signed and that is committed. */
  readonly onSigned: () => void
  /** Hears of events that hold up the later ones of their nodes. */
  readonly onFailures: (failures: readonly Failure[]) => void
}

/** The job to wake when there are events that want their signature. */
export const SIGNING = 'event-signing'

const EVERY_MS = 250
const EVENTS_MAX = 500
/** Events signed before requests get their turn: some milliseconds of this process. */
const AT_ONCE_MAX = 50
/** How long a lane is held up before the event that holds it up is tried again. */
export const RETRY_MS = 60_000

/** What a pass made of events. */
interface Outcome {
  readonly signed: { readonly id: string; readonly payload: string; readonly wire: string }[]
  readonly failed: Failure[]
}

/** Signs events in the order in which they were put on their way, once each, and keeps what it signed. */
export function createSigning(deps: SigningDeps): LeaderJob {
  const { datastore, clock, counters, signer } = deps
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
      } else outcome.signed.push({ id: event.id, payload, wire: await wireOf(signer, event, payload) })
    }
  }

  async function keep(leading: Leading, { signed, failed }: Outcome): Promise<void> {
    if (signed.length + failed.length === 0) return
    await leading.transaction(async (tx) => {
      await keepSigned(tx, signed)
      await keepFailures(tx, failed, new Date(clock.now()))
    })
    if (signed.length > 0) deps.onSigned()
    if (failed.length > 0) deps.onFailures(failed)
  }

  async function sign(leading: Leading, events: readonly Outgoing[]): Promise<void> {
    const outcome: Outcome = { signed: [], failed: [] }
    try {
      await signInto(outcome, events)
    } catch (error) {
      counters.signingFailed()
      throw error
    } finally {
      await keep(leading, outcome)
    }
  }

  return {
    name: SIGNING,
    everyMs: EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const triedBefore = new Date(clock.now() - RETRY_MS)
      const events = await readUnsigned(worker, { max: EVENTS_MAX, triedBefore })
      if (events.length > 0) await sign(leading, events)
      return events.length === EVENTS_MAX
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
