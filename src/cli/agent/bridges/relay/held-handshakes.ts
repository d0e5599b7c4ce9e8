import type { EndpointAddress } from '../../endpoints/endpoint-address.ts'

/** Handshake messages for public keys that the host does not know, or not yet: peers use a new key while it is still on its way here. */
export interface HeldHandshakes {
  hold(packet: Buffer, from: EndpointAddress): void
  /** Tries them again. One that has gone somewhere is not held any more. */
  retry(take: (packet: Buffer, from: EndpointAddress) => boolean): void
  /** Whether one waits. */
  isWaiting(): boolean
}

interface Held {
  readonly packet: Buffer
  readonly from: EndpointAddress
  readonly untilMs: number
}

/** The next try of WireGuard follows after 5 s. */
const HELD_MS = 3_000
const HELD_MAX = 64
const PER_HOST_MAX = 8

/** Makes it, empty. `now`: milliseconds. */
export function createHeldHandshakes(now: () => number): HeldHandshakes {
  let held: readonly Held[] = []
  let isRetrying = false

  const waiting = (): readonly Held[] => held.filter(({ untilMs }) => untilMs > now())

  return {
    hold(packet, from) {
      if (isRetrying) return
      held = waiting()
      const ofHost = held.filter((each) => each.from.host === from.host).length
      if (held.length >= HELD_MAX || ofHost >= PER_HOST_MAX) return
      held = [...held, { packet: Buffer.from(packet), from, untilMs: now() + HELD_MS }]
    },
    retry(take) {
      isRetrying = true
      held = waiting().filter(({ packet, from }) => !take(packet, from))
      isRetrying = false
    },
    isWaiting: () => waiting().length > 0,
  }
}
