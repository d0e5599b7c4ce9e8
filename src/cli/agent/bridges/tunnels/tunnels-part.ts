import { reasonOf } from '../../errors.ts'
import { doEach } from '../../process/do-each.ts'
import type { Forward } from '../../firewall/firewall-view.ts'
import type { BridgePart } from '../bridge-part.ts'
import type { WantedTunnel } from '../wanted-parts.ts'
import { subnetFault, type Surroundings } from '../../server-answers/subnet-fault.ts'
import { kindOfAnyInterface, isTunnelKind, kindOfInterface, tunnelInterface, TUNNEL_KINDS } from './tunnel-interface.ts'
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
type Fault = readonly [slug: string, sentence: string]

const INITIATORS = { bidirectional: 'both', ingress_only: 'outside', egress_only: 'mesh' } as const

/** Makes the part of the bridges that leads to other sites. */
export function createTunnelsPart(deps: TunnelsDeps): BridgePart<readonly WantedTunnel[]> {
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

  /** Whether there were some. */
  async function removeAll(names: readonly string[]): Promise<boolean> {
    await doEach(
      names.map((name) => async () => {
        const kind = kindOfAnyInterface(name)
        await (kind === undefined ? undefined : drivers[kind]?.remove(name))
        placed.delete(name)
      }),
    )
    return names.length > 0
  }

  /** The tunnels that are open here or were left by an earlier process. */
  async function namesOf(isMeant: (name: string) => boolean): Promise<readonly string[]> {
    const left = (await deps.ownInterfaces()).filter((name) => kindOfAnyInterface(name) !== undefined)
    return [...new Set([...placed.keys(), ...left])].filter(isMeant)
  }

  function isOfBridge(name: string, bridgeId: string): boolean {
    const known = placed.get(name)
    return known === undefined ? kindOfInterface(name, bridgeId) !== undefined : known.bridgeId === bridgeId
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

  async function apply(bridgeId: string, wanted: readonly WantedTunnel[]): Promise<string | undefined> {
    const names = new Set(wanted.filter(isKnownKind).map((tunnel) => tunnelInterface(bridgeId, tunnel)))
    const hasRemoved = await removeAll(await namesOf((name) => isOfBridge(name, bridgeId) && !names.has(name)))
    const { tunnels, faults } = await admit(wanted)
    const named = tunnels.map((tunnel): Named => [tunnelInterface(bridgeId, tunnel), tunnel])
    if (named.length > 0) return sentenceOf([...faults, ...(await openEach(bridgeId, named))])
    return (hasRemoved ? await deps.enforceForwards() : undefined) ?? sentenceOf(faults)
  }

  /** Those that may be opened here, and what is wrong with the others. */
  async function admit(
    wanted: readonly WantedTunnel[],
  ): Promise<{ readonly tunnels: readonly Tunnel[]; readonly faults: readonly Fault[] }> {
    if (wanted.length === 0) return { tunnels: [], faults: [] }
    const around = await deps.surroundings()
    const tunnels: Tunnel[] = []
    const faults: Fault[] = []
    for (const item of wanted) {
      const read = readTunnel(item)
      const fault = typeof read === 'string' ? read : subnetFault(read.allowed_subnets, around)
      if (fault !== undefined) faults.push([item.slug, fault])
      else if (typeof read !== 'string') tunnels.push(read)
    }
    return { tunnels, faults }
  }

  async function openEach(bridgeId: string, named: readonly Named[]): Promise<readonly Fault[]> {
    const failed = await openAll(bridgeId, named)
    // A subnet may have been that of a tunnel that gave it up only afterwards.
    const isWorthwhile = failed.size > 0 && failed.size < named.length
    const again = named.filter(([name]) => isWorthwhile && failed.has(name))
    const faults = again.length > 0 ? await openAll(bridgeId, again) : failed
    return named.flatMap(([name, { slug }]): readonly Fault[] => {
      const fault = faults.get(name)
      return fault === undefined ? [] : [[slug, fault]]
    })
  }

  return {
    apply: (bridgeId, wanted) => serially(() => apply(bridgeId, wanted).catch(reasonOf)),
    keepOnly: (bridgeIds) =>
      serially(async () => {
        const isKept = (name: string): boolean => [...bridgeIds].some((bridgeId) => isOfBridge(name, bridgeId))
        await removeAll(await namesOf((name) => !isKept(name)))
      }),
    faults: () =>
      [...placed].flatMap(([name, { tunnel }]) => {
        const fault = drivers[tunnel.kind]?.fault(name)
        return fault === undefined ? [] : [`tunnel ${tunnel.slug}: ${fault}`]
      }),
    forwards: () => [...placed].map(([name, { tunnel }]) => forwardOf(name, tunnel)),
    close: (mode) =>
      serially(async () => {
        const removed = async (): Promise<void> => void (await removeAll(await namesOf(() => true)))
        const closed = TUNNEL_KINDS.map((kind) => async () => drivers[kind]?.close())
        await doEach(mode === 'remove' ? [removed, ...closed] : closed)
      }),
  }
}

/** The tunnel in the form of its driver, or why it has none. */
function readTunnel({ slug, kind, secret, ...rest }: WantedTunnel): Tunnel | string {
  if (!isTunnelKind(kind)) return 'this version of the agent does not know its kind; upgrade it'
  if (secret === undefined) return 'its secret could not be fetched'
  return { ...rest, slug, kind, secret }
}

function isKnownKind(wanted: WantedTunnel): wanted is WantedTunnel & { readonly kind: TunnelKind } {
  return isTunnelKind(wanted.kind)
}

function forwardOf(interfaceName: string, { allowed_subnets, routing_policy }: Placed['tunnel']): Forward {
  return { interfaceName, subnets: allowed_subnets, initiators: INITIATORS[routing_policy] }
}

/** What is wrong with each tunnel; undefined where nothing is. */
function sentenceOf(faults: readonly Fault[]): string | undefined {
  return faults.length === 0 ? undefined : faults.map(([slug, fault]) => `tunnel ${slug}: ${fault}`).join('; ')
}
