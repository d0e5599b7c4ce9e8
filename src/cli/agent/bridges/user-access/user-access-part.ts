import { overlaps, spanOf } from '../../../../shared/bridges/subnet.ts'
import { explained } from '../../errors.ts'
import type { Forward } from '../../firewall/firewall-view.ts'
import type { Log } from '../../log.ts'
import { doEach } from '../../process/do-each.ts'
import type { BridgePart } from '../bridge-part.ts'
import type { WantedUserAccess } from '../wanted-parts.ts'
import { readProvider, type Provider } from './provider.ts'
import { openProvider, type ProviderDeps, type RunningProvider } from './running-provider.ts'

/** What the user access of this machine needs. */
export interface UserAccessDeps extends ProviderDeps {
  readonly log: Log
  /** Whether the agent has an interface of that name for something else, such as the mesh. */
  readonly isReserved: (interfaceName: string) => boolean
  /** Whether an interface of that name is there and does not belong to this node. */
  readonly isForeign: (interfaceName: string) => boolean
  /** Names of the interfaces of this node that are there, also those that an earlier process left. */
  readonly ownInterfaces: () => Promise<readonly string[]>
  /** Removes an interface of this node that an earlier process left. */
  readonly removeLeft: (interfaceName: string) => Promise<unknown>
  /** Why this machine cannot have the network behind an interface of its own; undefined where it can. */
  readonly subnetFault: (subnet: string) => Promise<string | undefined>
}

/** A provider that is open. */
interface Placed {
  readonly bridgeId: string
  readonly running: RunningProvider
}

/** Makes the part of the bridges that lets the devices of people in. */
export function createUserAccessPart(deps: UserAccessDeps): BridgePart<readonly WantedUserAccess[]> {
  /** By interface. */
  const placed = new Map<string, Placed>()
  /** Interfaces that bridges want, whether or not they are open, by bridge. */
  const wantedNames = new Map<string, ReadonlySet<string>>()
  /** Of a provider that is being opened: the rules are there before its interface. */
  let opening: Provider | undefined
  /** Bridges of the newest pull; what none of them wants is left from an earlier process. */
  let hosted: ReadonlySet<string> | undefined

  async function remove(names: readonly string[]): Promise<void> {
    await doEach(
      names.map((name) => async () => {
        await placed.get(name)?.running.close('remove')
        placed.delete(name)
      }),
    )
  }

  function othersFault(bridgeId: string, { interfaceName: name, subnet }: Provider): string | undefined {
    if (deps.isReserved(name)) return `the interface ${name} is needed by the agent for something else`
    // Now, and not when it is opened: by then it would be set to forward.
    if (deps.isForeign(name)) return `there is an interface ${name} that does not belong to this agent`
    const present = placed.get(name)
    if (present !== undefined && present.bridgeId !== bridgeId)
      return `the interface ${name} is that of another bridge on this machine`
    const subnets = [...placed]
      .filter(([other]) => other !== name)
      .flatMap(([, { running }]) => running.provider().subnet ?? [])
    const taken = subnets.find((other) => subnet !== undefined && overlaps(spanOf(other), spanOf(subnet)))
    return taken === undefined ? undefined : `its subnet overlaps ${taken}, which another provider has here`
  }

  /** Changes the provider of that interface, or closes and opens it where it cannot be changed. */
  async function run(bridgeId: string, provider: Provider): Promise<void> {
    const { interfaceName: name } = provider
    const present = placed.get(name)
    if (present?.running.isChangeableTo(provider) === true) return present.running.change(provider)
    // One that loses its subnet loses its address with the interface. Otherwise sessions go on.
    await present?.running.close(provider.subnet === undefined ? 'remove' : 'keep')
    placed.delete(name)
    placed.set(name, { bridgeId, running: await openProvider(deps, provider) })
  }

  async function apply(bridgeId: string, wanted: WantedUserAccess): Promise<string | undefined> {
    const read = readProvider(wanted)
    if ('fault' in read) return read.fault
    const { provider } = read
    const fault = othersFault(bridgeId, provider) ?? (await subnetFaultOf(provider))
    if (fault !== undefined) return fault
    opening = provider
    try {
      const refused = await deps.enforceForwards()
      if (refused !== undefined) return refused
      await run(bridgeId, provider)
    } catch (error) {
      return explained(error)
    } finally {
      opening = undefined
    }
    return deps.enforceForwards()
  }

  async function subnetFaultOf({ subnet }: Provider): Promise<string | undefined> {
    return subnet === undefined ? undefined : deps.subnetFault(subnet)
  }

  /** Once each hosted bridge has been applied, an interface that none of them wants is left from an earlier process. */
  async function removeUnwanted(): Promise<void> {
    if (hosted === undefined || [...hosted].some((id) => !wantedNames.has(id))) return
    await removeLeft(new Set([...wantedNames.values()].flatMap((names) => [...names])))
  }

  async function removeLeft(wanted: ReadonlySet<string>): Promise<void> {
    const present = await deps.ownInterfaces()
    const left = present.filter((name) => !deps.isReserved(name) && !placed.has(name) && !wanted.has(name))
    await doEach(
      left.map((name) => async () => {
        await deps.removeLeft(name)
        deps.log.line(`user access: the interface ${name} of an earlier process was removed`)
      }),
    )
  }

  const namesOf = (isOver: (bridgeId: string, name: string) => boolean): readonly string[] =>
    [...placed].filter(([name, { bridgeId }]) => isOver(bridgeId, name)).map(([name]) => name)

  return {
    async apply(bridgeId, wanted) {
      const names = new Set(wanted.map(({ interface_name: name }) => name))
      wantedNames.set(bridgeId, names)
      const over = namesOf((id, name) => id === bridgeId && !names.has(name))
      await remove(over)
      if (over.length > 0) await deps.enforceForwards()
      const faults: string[] = []
      for (const each of wanted) {
        const fault = await apply(bridgeId, each)
        if (fault !== undefined) faults.push(`user access ${each.slug}: ${fault}`)
      }
      await removeUnwanted()
      return faults.length === 0 ? undefined : faults.join('; ')
    },
    async keepOnly(bridgeIds) {
      hosted = bridgeIds
      for (const id of wantedNames.keys()) if (!bridgeIds.has(id)) wantedNames.delete(id)
      await remove(namesOf((id) => !bridgeIds.has(id)))
      await removeUnwanted()
    },
    faults: () =>
      [...placed.values()].flatMap(({ running }) => {
        const fault = running.fault()
        return fault === undefined ? [] : [`user access ${running.provider().slug}: ${fault}`]
      }),
    forwards() {
      const open = [...placed.values()].map(({ running }) => running.provider())
      const others = open.filter(({ interfaceName }) => interfaceName !== opening?.interfaceName)
      return [...others, ...(opening === undefined ? [] : [opening])].flatMap(forwardOf)
    },
    async close(mode) {
      if (mode === 'remove') return doEach([() => remove([...placed.keys()]), () => removeLeft(new Set())])
      await doEach(
        [...placed.values()].map(
          ({ running }) =>
            () =>
              running.close('keep'),
        ),
      )
      placed.clear()
    },
  }
}

/** Devices of people reach the mesh; nothing of the mesh begins a connection to them. */
function forwardOf({ interfaceName, subnet }: Provider): readonly Forward[] {
  return subnet === undefined ? [] : [{ interfaceName, subnets: [subnet], initiators: 'outside' }]
}
