import { reasonOf } from '../../errors.ts'
import { doEach } from '../../process/do-each.ts'
import type { BridgePart, Forward } from '../bridge-part.ts'
import { subnetFault } from './subnet-fault.ts'
import type { Surroundings } from './surroundings.ts'
import { kindOfAnyInterface, kindOfInterface, tunnelInterface, TUNNEL_KINDS } from './tunnel-interface.ts'
import type { Tunnel, TunnelDriver, TunnelKind } from './tunnel-driver.ts'

/** What the tunnels of this machine need. */
export interface TunnelsDeps {
  /** A kind without a driver is refused. */
  readonly drivers: Readonly<Partial<Record<TunnelKind, TunnelDriver>>>
  /** Names of the interfaces of this node that are there, also those that an earlier process left. */
  readonly ownInterfaces: () => Promise<readonly string[]>
  readonly surroundings: () => Promise<Surroundings>
  /** Brings `forwards()` into force. Resolves with why they are not, or undefined. */
  readonly enforceForwards: () => Promise<string | undefined>
}

/** A tunnel that is applied, or is being applied. */
interface Placed {
  readonly bridgeId: string
  readonly tunnel: Omit<Tunnel, 'secret'>
}

type Named = readonly [name: string, tunnel: Tunnel]

const INITIATORS = { bidirectional: 'both', ingress_only: 'outside', egress_only: 'mesh' } as const

/** Makes the part of the bridges that leads to other sites. */
export function createTunnelsPart(deps: TunnelsDeps): BridgePart<readonly Tunnel[]> {
  const { drivers } = deps
  /** By interface. */
  const placed = new Map<string, Placed>()
  let last: Promise<unknown> = Promise.resolve()

  /** One change at a time: tunnels of two bridges share the firewall. */
  function serially<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work)
    last = next.catch(() => undefined)
    return next
  }

  async function removeAll(names: readonly string[]): Promise<void> {
    await doEach(
      names.map((name) => async () => {
        const kind = kindOfAnyInterface(name)
        await (kind === undefined ? undefined : drivers[kind]?.remove(name))
        placed.delete(name)
      }),
    )
  }

  async function removeUnwanted(bridgeId: string, wanted: ReadonlyMap<string, Tunnel>): Promise<boolean> {
    const isOfBridge = (name: string): boolean =>
      placed.has(name) ? placed.get(name)?.bridgeId === bridgeId : kindOfInterface(name, bridgeId) !== undefined
    const names = new Set([...placed.keys(), ...(await deps.ownInterfaces())])
    const over = [...names].filter((name) => isOfBridge(name) && !wanted.has(name))
    await removeAll(over)
    return over.length > 0
  }

  async function open(bridgeId: string, [interfaceName, tunnel]: Named): Promise<string | undefined> {
    const driver = drivers[tunnel.kind]
    if (driver === undefined) return `this agent does not run tunnels of the kind ${tunnel.kind}`
    return driver.apply({ bridgeId, interfaceName }, tunnel).catch(reasonOf)
  }

  /** Applies those that may be applied. The rules come first, so that no tunnel is open without them. */
  async function openAll(bridgeId: string, tunnels: readonly Named[]): Promise<ReadonlyMap<string, string>> {
    const before = new Map(placed)
    for (const [name, { secret: _secret, ...tunnel }] of tunnels) placed.set(name, { bridgeId, tunnel })
    const refused = await deps.enforceForwards()
    const faults = new Map<string, string>()
    for (const named of tunnels) {
      const fault = refused ?? (await open(bridgeId, named))
      if (fault !== undefined) faults.set(named[0], fault)
    }
    for (const name of faults.keys()) restore(name, before.get(name))
    // Once more: the interfaces are there only now, and what failed goes on as it was.
    const unforwarded = refused ?? (await deps.enforceForwards())
    for (const [name] of tunnels) if (unforwarded !== undefined && !faults.has(name)) faults.set(name, unforwarded)
    return faults
  }

  function restore(name: string, former: Placed | undefined): void {
    if (former === undefined) placed.delete(name)
    else placed.set(name, former)
  }

  async function apply(bridgeId: string, tunnels: readonly Tunnel[]): Promise<string | undefined> {
    const wanted = new Map(tunnels.map((tunnel): Named => [tunnelInterface(bridgeId, tunnel), tunnel]))
    const hasRemoved = await removeUnwanted(bridgeId, wanted)
    if (wanted.size === 0) return hasRemoved ? deps.enforceForwards() : undefined
    const around = await deps.surroundings()
    const faults = new Map<string, string>()
    for (const [name, tunnel] of wanted) {
      const fault = subnetFault(tunnel.allowed_subnets, around)
      if (fault !== undefined) faults.set(name, fault)
    }
    const admitted = [...wanted].filter(([name]) => !faults.has(name))
    const failed = await openAll(bridgeId, admitted)
    // A subnet may have been that of a tunnel that gave it up only afterwards.
    const again = failed.size > 0 && failed.size < admitted.length ? admitted.filter(([name]) => failed.has(name)) : []
    const still = again.length > 0 ? await openAll(bridgeId, again) : failed
    return sentenceOf(wanted, new Map([...faults, ...still]))
  }

  return {
    apply: (bridgeId, tunnels) => serially(() => apply(bridgeId, tunnels).catch(reasonOf)),
    faults: () =>
      [...placed].flatMap(([name, { tunnel }]) => {
        const fault = drivers[tunnel.kind]?.fault(name)
        return fault === undefined ? [] : [`tunnel ${tunnel.slug}: ${fault}`]
      }),
    forwards: () => [...placed].map(([name, { tunnel }]) => forwardOf(name, tunnel)),
    close: (mode) =>
      serially(async () => {
        const removed = async (): Promise<void> =>
          removeAll([...new Set([...placed.keys(), ...(await deps.ownInterfaces()).filter(kindOfAnyInterface)])])
        const closed = TUNNEL_KINDS.map((kind) => async () => drivers[kind]?.close())
        await doEach(mode === 'remove' ? [removed, ...closed] : closed)
      }),
  }
}

function forwardOf(interfaceName: string, { allowed_subnets, routing_policy }: Placed['tunnel']): Forward {
  return { interfaceName, subnets: allowed_subnets, initiators: INITIATORS[routing_policy] }
}

/** All faults in one sentence each; undefined where there is none. */
function sentenceOf(wanted: ReadonlyMap<string, Tunnel>, faults: ReadonlyMap<string, string>): string | undefined {
  if (faults.size === 0) return undefined
  return [...faults].map(([name, fault]) => `tunnel ${wanted.get(name)?.slug ?? name}: ${fault}`).join('; ')
}
