import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { LeadershipLost } from '../../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import { claim, lockDue, release, type DueDelivery } from './claims-store.ts'
import { createInFlight } from './in-flight.ts'
import type { Send } from './sender.ts'
import type { MadeAttempt, Settle } from './settle.ts'

export interface WorkerDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly send: Send
  readonly settle: Settle
  /** Called with an attempt that could not be made or stored. It is made again when its claim has ended. */
  readonly onFailure: (error: unknown, deliveryId: string | undefined) => void
}

/** Sends deliveries that are due. */
export interface DeliveryWorker {
  /** Claims what is due. The leader alone claims, so that replicas do not send the same delivery. */
  readonly job: LeaderJob
  /** Ends attempts: those that are not over in time are broken off, and are due again. */
  stop(): Promise<void>
}

interface Claimed {
  readonly deliveries: readonly (DueDelivery & MadeAttempt)[]
  /** Whether there may be more for which there is room. */
  readonly isMore: boolean
}

const NONE: Claimed = { deliveries: [], isMore: false }

const EVERY_MS = 1_000
/** How long a claim counts: longer than an attempt takes. After a crash the delivery is sent again then, with the same id. */
const CLAIM_MS = 30_000
/** How long attempts may go on when the server stops. */
const STOP_MS = 3_000

export function createDeliveryWorker(deps: WorkerDeps): DeliveryWorker {
  const { datastore, clock, ids, send, settle, onFailure } = deps
  const inFlight = createInFlight()
  const stopping = new AbortController()
  let running = Promise.resolve(false)
  let next: Promise<boolean> | undefined

  async function claimDue(leading: Leading): Promise<Claimed> {
    const nowMs = clock.now()
    const room = inFlight.room()
    return leading.transaction(async (tx) => {
      const due = await lockDue(tx, { now: new Date(nowMs), ...room })
      const taken = inFlight.choose(due)
      if (taken.length === 0) return NONE
      const own = ids.next()
      await claim(tx, { ids: taken.map(({ id }) => id), claim: own, until: new Date(nowMs + CLAIM_MS) })
      const deliveries = taken.map((each) => ({ ...each, claim: own, tries: each.tries + 1 }))
      return { deliveries, isMore: due.length === room.max }
    })
  }

  async function attempt(delivery: DueDelivery & MadeAttempt): Promise<void> {
    try {
      const outcome = await send(delivery, stopping.signal)
      if (outcome === undefined) await release(datastore.pool('worker'), { ...delivery, now: new Date(clock.now()) })
      else await settle(delivery, outcome)
    } catch (error) {
      onFailure(error, delivery.id)
    }
  }

  /** The queue does not wait for the next pass when an attempt ends: there is room then. */
  function claimAgain(leading: Leading): Promise<unknown> {
    return pass(leading).catch((error: unknown) => {
      if (!leading.signal.aborted && !(error instanceof LeadershipLost)) onFailure(error, undefined)
    })
  }

  async function claimAndSend(leading: Leading): Promise<boolean> {
    if (leading.signal.aborted || stopping.signal.aborted || inFlight.isFull()) return false
    const { deliveries, isMore } = await claimDue(leading)
    for (const delivery of deliveries)
      void inFlight.run(delivery, () => attempt(delivery)).then(() => claimAgain(leading))
    return isMore
  }

  /** One at a time, since a claim has to see the attempts of the one before. Calls that wait share the next one. */
  function pass(leading: Leading): Promise<boolean> {
    next ??= running
      .catch(() => false)
      .then(() => {
        next = undefined
        running = claimAndSend(leading)
        return running
      })
    return next
  }

  return {
    job: {
      name: 'webhook-deliveries',
      everyMs: EVERY_MS,
      run: pass,
    },
    async stop() {
      const late = setTimeout(() => stopping.abort(), STOP_MS)
      await inFlight.ended()
      clearTimeout(late)
      stopping.abort()
    },
  }
}
