import type { BridgePart } from '../bridge-part.ts'
import type { WantedRelay } from '../wanted-parts.ts'
import { reasonOf, systemCode } from '../../errors.ts'
import { createPacedLines } from '../../paced-lines.ts'
import { createForwarder, type Forwarder, type RelayTerms } from './forwarder.ts'
import { createHeldHandshakes, type HeldHandshakes } from './held-handshakes.ts'
import type { RelayPeer } from './relay-peers.ts'
import { openRelaySocket, type RelaySocket } from './relay-socket.ts'

/** What the relays of this machine need. */
export interface RelayPartDeps {
  /** The peers of this node, with where its tunnel has them. Read every few seconds while a relay is enabled. */
  readonly peers: () => Promise<readonly RelayPeer[]>
  readonly log: (line: string) => void
  /** Milliseconds. */
  readonly now: () => number
}

/** The relays of the bridges that this machine hosts. They live in this process, so that nothing of them outlives it. */
export interface RelayPart extends BridgePart<WantedRelay> {
  /** The UDP ports on which this machine relays. */
  ports(): ReadonlySet<number>
}

type PresentRelay = NonNullable<WantedRelay>

interface OpenRelay {
  readonly port: number
  readonly forwarder: Forwarder
  readonly held: HeldHandshakes
  readonly socket: RelaySocket
}

/** What a fault belongs to that keeps the peers from being read. */
const THIS_MACHINE = 'this machine'
const PEERS_EVERY_MS = 2_000
/** The same while handshakes for unknown keys wait. */
const HURRIED_MS = 300
/** Anyone may send such handshakes: after a read that takes long, the pause is this multiple of it. */
const HURRIED_TIMES = 10
const SWEEP_EVERY_MS = 10_000
/** A packet that could not be sent is named so long after it. */
const FAULT_SHOWN_MS = 60_000

interface Fault {
  readonly reason: string
  readonly atMs: number
}

/** Makes the relays; none is open. */
export function createRelayPart({ peers, log, now }: RelayPartDeps): RelayPart {
  const relays = new Map<string, OpenRelay>()
  const faults = new Map<string, Fault>()
  // Each packet of a flood may have a fault.
  const paced = createPacedLines(log, now)
  let timer: NodeJS.Timeout | undefined
  const looks = { areHurried: false, isUnderWay: false, readingMs: 0 }
  let sweptMs = now()

  function noteFault(name: string, reason: string): void {
    paced(`relay: ${name}: ${reason}`)
    faults.set(name, { reason, atMs: now() })
  }

  async function refresh(): Promise<void> {
    const beganMs = now()
    try {
      const present = await peers()
      looks.readingMs = now() - beganMs
      for (const relay of relays.values()) if (relay.forwarder.setPeers(present)) retry(relay)
      faults.delete(THIS_MACHINE)
    } catch (error) {
      noteFault(THIS_MACHINE, reasonOf(error))
    }
  }

  async function look(): Promise<void> {
    looks.isUnderWay = true
    await refresh()
    looks.isUnderWay = false
    sweep()
    schedule()
  }

  function sweep(): void {
    if (now() - sweptMs < SWEEP_EVERY_MS) return
    for (const { forwarder } of relays.values()) forwarder.sweep()
    sweptMs = now()
  }

  function schedule(): void {
    clearTimeout(timer)
    looks.areHurried = [...relays.values()].some(({ held }) => held.isWaiting())
    const hurriedMs = Math.min(PEERS_EVERY_MS, Math.max(HURRIED_MS, HURRIED_TIMES * looks.readingMs))
    const pauseMs = looks.areHurried ? hurriedMs : PEERS_EVERY_MS
    timer = relays.size === 0 ? undefined : setTimeout(() => void look(), pauseMs)
  }

  async function open(bridgeId: string, wanted: PresentRelay): Promise<OpenRelay> {
    const { listen_port: port } = wanted
    const held = createHeldHandshakes(now)
    const forwarder = createForwarder(termsOf(wanted), now, (packet, from) => {
      held.hold(packet, from)
      // A look that is under way schedules the next one itself.
      if (!looks.areHurried && !looks.isUnderWay) schedule()
    })
    const socket = await openRelaySocket({
      port,
      onPacket: (packet, from) => forwarder.take(packet, from),
      onFault: (reason) => noteFault(`bridge ${bridgeId}`, reason),
    })
    log(`relay: bridge ${bridgeId} forwards on UDP port ${port}`)
    return { port, forwarder, held, socket }
  }

  async function stop(bridgeId: string): Promise<void> {
    const relay = relays.get(bridgeId)
    relays.delete(bridgeId)
    faults.delete(`bridge ${bridgeId}`)
    await relay?.socket.close()
    if (relay !== undefined) log(`relay: bridge ${bridgeId} does not forward any more`)
  }

  async function replace(bridgeId: string, wanted: PresentRelay): Promise<string | undefined> {
    try {
      const next = await open(bridgeId, wanted)
      await relays.get(bridgeId)?.socket.close()
      relays.set(bridgeId, next)
    } catch (error) {
      return refusal(wanted.listen_port, error)
    }
    await refresh()
    return undefined
  }

  return {
    async apply(bridgeId, wanted) {
      const present = relays.get(bridgeId)
      if (wanted?.enabled !== true) await stop(bridgeId)
      else if (present?.port === wanted.listen_port) present.forwarder.setTerms(termsOf(wanted))
      else {
        const reason = await replace(bridgeId, wanted)
        if (reason !== undefined) return reason
      }
      schedule()
      return undefined
    },
    faults() {
      const recent = [...faults].filter(([, { atMs }]) => now() - atMs < FAULT_SHOWN_MS)
      return recent.map(([name, { reason }]) => `the relay of ${name}: ${reason}`)
    },
    // Its packets never reach the mesh of this machine: they are sealed for others.
    forwards: () => [],
    ports: () => new Set([...relays.values()].map(({ port }) => port)),
    async keepOnly(bridgeIds) {
      for (const bridgeId of relays.keys()) if (!bridgeIds.has(bridgeId)) await stop(bridgeId)
    },
    async close() {
      clearTimeout(timer)
      for (const bridgeId of relays.keys()) await stop(bridgeId)
    },
  }
}

/** Forwards what waited for a new key. */
function retry({ forwarder, held, socket }: OpenRelay): void {
  held.retry((packet, from) => {
    const destinations = forwarder.take(packet, from)
    for (const to of destinations) socket.send(packet, to)
    return destinations.length > 0
  })
}

function termsOf({ listen_port: port, assignments }: PresentRelay): RelayTerms {
  return { port, assigned: new Set(assignments.map(({ peer_node_id: nodeId }) => nodeId)) }
}

function refusal(port: number, error: unknown): string {
  if (systemCode(error) === 'EADDRINUSE')
    return `UDP port ${port} of the relay is in use on this machine; choose another one or end what has it`
  return `the relay cannot listen on UDP port ${port}: ${reasonOf(error)}`
}
