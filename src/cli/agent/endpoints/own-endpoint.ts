import { networkInterfaces } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import type { Member } from '../../../client/agent/member.ts'
import { sendEndpoint } from '../../../client/agent/reports/endpoint.ts'
import type { Device } from '../device/device.ts'
import type { Log } from '../log.ts'
import { endpointOf, type LocalAddress } from '../system/local-address.ts'

/** What the own endpoint needs. */
export interface OwnEndpointDeps {
  readonly agent: AgentDeps
  readonly member: Member
  readonly device: Pick<Device, 'name' | 'status' | 'wake'>
  readonly log: Log
  /** The address from which this machine reaches the server; undefined where there is none. */
  readonly localAddress: () => Promise<LocalAddress | undefined>
  /** A text that changes with the addresses of this machine. */
  readonly addresses: () => string
  /** Further addresses at which peers may reach the tunnel, `address:port`. */
  readonly candidates: (port: number) => readonly string[]
  /** `isFirst`: no address was known before. */
  readonly onMoved: (uplink: LocalAddress, isFirst: boolean) => void
}

/** The endpoint of this node. */
export interface OwnEndpoint {
  /** Reports the endpoint where that is due. */
  look(): Promise<void>
  /** How long the server keeps reports of endpoints. */
  lifetimeMs(): number
}

/** A route can change while no address does. */
const THOROUGH_LOOK_MS = 15_000
/** Where the server has not said it (S0 Limits: endpoint TTL). */
const LIFETIME_MS = 300_000
/** A clock of the server that is off must not keep the endpoint from being reported. */
const LIFETIME_MS_MAX = 3_600_000

/**
 * Keeps the server informed of the endpoint, which is a guess: the local address and the port of the tunnel. It is reported at once
 * when it changes, and again at half of its lifetime. Peers are sent a packet from a new address, so that they send there.
 */
export function createOwnEndpoint(deps: OwnEndpointDeps): OwnEndpoint {
  const { agent, member, device, log, localAddress, onMoved } = deps
  const { clock, until } = agent
  let endpoint: string | undefined
  let candidates: readonly string[] = []
  let lifetimeMs = LIFETIME_MS
  let known: string | undefined
  let [thoroughMs, reportMs] = [0, 0]

  async function take(local: LocalAddress): Promise<void> {
    const { listenPort, peers } = await device.status()
    takeCandidates(deps.candidates(listenPort))
    const present = endpointOf(local, listenPort)
    if (present === endpoint || until.aborted) return
    await device.wake(peers.map(({ publicKey }) => publicKey))
    log.line(`endpoint: ${present}`)
    onMoved(local, endpoint === undefined)
    endpoint = present
    reportMs = 0
  }

  function takeCandidates(present: readonly string[]): void {
    if (!isDeepStrictEqual(present, candidates)) reportMs = 0
    candidates = present
  }

  async function report(): Promise<void> {
    if (endpoint === undefined || clock.now() < reportMs || until.aborted) return
    const guess = { endpoint, candidates, natType: 'unknown', observedMs: clock.now() } as const
    const taken = await sendEndpoint(agent, member, guess)
    lifetimeMs = Math.min(taken ?? lifetimeMs, LIFETIME_MS_MAX)
    reportMs = clock.now() + (taken === undefined ? THOROUGH_LOOK_MS : lifetimeMs / 2)
  }

  return {
    async look() {
      const present = deps.addresses()
      if (present !== known || clock.now() >= thoroughMs) {
        const local = await localAddress()
        if (local !== undefined) await take(local)
        // An address may come before its route.
        known = local === undefined ? undefined : present
        thoroughMs = clock.now() + THOROUGH_LOOK_MS
      }
      await report()
    },
    lifetimeMs: () => lifetimeMs,
  }
}

/** The addresses of this machine, without those of one interface. */
export function addressesExcept(interfaceName: string): string {
  const others = Object.entries(networkInterfaces()).filter(([name]) => name !== interfaceName)
  return others.flatMap(([name, infos = []]) => infos.map(({ cidr }) => `${name} ${cidr}`)).join(', ')
}
