import { isDeepStrictEqual } from 'node:util'
import { hostedSubnets } from '../../../client/agent/bridges/hosted-subnets.ts'
import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import type { ReadPolicy } from '../../../client/agent/policies/own-policies.ts'
import type { Device, PeerStatus } from '../device/device.ts'
import type { ReachablePeer } from '../endpoints/lost-peers.ts'
import type { RelayAddresses } from '../endpoints/relay-addresses.ts'
import type { Log } from '../log.ts'
import type { FirewallView, Forward } from '../firewall/firewall-view.ts'
import type { Firewall } from '../firewall/firewall.ts'
import type { MeshName, MeshNames } from '../names/mesh-names.ts'
import type { RealMember } from '../real-member.ts'
import { acceptPeers, type AcceptedPeers, type PeerTerms } from '../server-answers/accept-peers.ts'
import type { MeshNetwork } from '../server-answers/mesh-network.ts'
import type { KnownMesh } from '../state/known-mesh.ts'
import { planTunnel, type Move, type PutPeer } from './plan-tunnel.ts'
import { publicKeyOf } from './raw-keys.ts'

/** Brings this machine to what the agent knows of the mesh. */
export interface MeshApplier {
  /** Applies everything that differs. Packets pass only while the policies are enforced. */
  apply(): Promise<void>
  /**
   * Looks whether the policies are in force, and brings them into force again where another program removed them or the last try
   * failed. Resolves with whether the device is to be changed after it: peers may come back, or have to go.
   */
  enforce(): Promise<boolean>
  /** Gives this machine the names again: what finds them may have started only now, or another program took them away. */
  republish(): Promise<void>
  /** The device has lost its peers: the next round puts all of them. */
  forgetPuts(): void
  /** Nothing comes from these peers: the next round gives them the endpoints, by node id, unless they have come by then. */
  replaceEndpoints(moves: ReadonlyMap<string, Move>): void
  /** The peers that were taken and that are among those of the device. */
  present(device: readonly PeerStatus[]): readonly PresentOfMesh[]
  /** The peers that were taken and refused in the last round. */
  accepted(): AcceptedPeers
}

/** A peer of the device, with the endpoints that the server gives. */
export interface PresentOfMesh extends ReachablePeer {
  /** The relay of the edges to it; undefined where there is none. */
  readonly fallback: string | undefined
}

/** What the applier needs. */
export interface ApplierDeps {
  readonly member: RealMember
  readonly device: Pick<Device, 'name' | 'change' | 'status' | 'wake' | 'setRoutes'>
  readonly firewall: Pick<Firewall, 'apply' | 'status'>
  readonly names: Pick<MeshNames, 'publish'>
  readonly log: Log
  readonly now: () => number
  readonly network: () => MeshNetwork
  readonly taken: () => ReadonlySet<string>
  /** What routes to peers must leave alone. */
  readonly machine: () => PeerTerms['machine']
  readonly keepaliveSeconds: () => number
  /** Takes the relays of the peers. */
  readonly relays: RelayAddresses
  /** What this machine forwards as a host of bridges. */
  readonly forwards: () => readonly Forward[]
  /** What an earlier run knew; it holds until the first pull. */
  readonly knownBefore: KnownMesh | undefined
  /** Writes down what is known now. */
  readonly remember: (known: KnownMesh) => Promise<void>
  /** Aborted once the agent ends. */
  readonly until: AbortSignal
}

const NOTHING: AcceptedPeers = { peers: [], refused: new Map(), refusedSubnets: new Map() }

/** Lines of one round: a server may send any number of peers that are refused. */
const REFUSALS_LOGGED = 20

/** Makes the applier. */
export function createMeshApplier(deps: ApplierDeps): MeshApplier {
  const { member, device, firewall, names, log, until, relays } = deps
  let puts: ReadonlyMap<string, PutPeer> = new Map()
  let accepted = NOTHING
  let lost: ReadonlyMap<string, Move> = new Map()
  let view: FirewallView | undefined
  let remembered: KnownMesh | undefined
  let settingRoutes: Promise<void> = Promise.resolve()
  let published: readonly MeshName[] | undefined

  function accept({ peers }: KnownMesh): AcceptedPeers {
    const next = acceptPeers(peers, termsOf(deps))
    const lines = [
      ...changes(accepted.refused, next.refused).map(([nodeId, why]) => `peer ${nodeId} is refused: ${why}`),
      ...changes(accepted.refusedSubnets, next.refusedSubnets).map(
        ([name, why]) => `subnet of peer ${name} is refused: ${why}`,
      ),
    ]
    for (const line of lines.slice(0, REFUSALS_LOGGED)) log.line(line)
    if (lines.length > REFUSALS_LOGGED)
      log.line(`${lines.length - REFUSALS_LOGGED} more peers or subnets of peers are refused`)
    return next
  }

  async function changeDevice(peers: readonly PeerFacts[]): Promise<void> {
    const replaced = lost
    const plan = planTunnel({ ...(await presentOf(deps)), peers, puts, lost: replaced })
    if (plan.put.length + plan.remove.length > 0) await device.change(plan)
    puts = plan.puts
    lost = new Map([...lost].filter(([nodeId, move]) => replaced.get(nodeId) !== move))
    if (plan.moved.length > 0) await device.wake(plan.moved)
    // A route that another program has keeps names from no peer: the round fails at its end.
    settingRoutes = device.setRoutes(plan.routes)
    await Promise.allSettled([settingRoutes])
  }

  async function applyTunnel(): Promise<void> {
    const { mayCarryPackets } = firewall.status()
    // Before the first pull the peers of the device stay as an earlier run has left them, where the policies are enforced.
    if (member.view === undefined && mayCarryPackets) return
    await changeDevice(mayCarryPackets ? accepted.peers : [])
  }

  async function applyPoliciesAndTunnel(next: FirewallView): Promise<void> {
    const isInForce = isDeepStrictEqual(next, view)
    const { mayCarryPackets } = firewall.status()
    // Where only keys or endpoints have changed, the device does not wait for a look at the rules.
    if (isInForce) await applyTunnel()
    if (until.aborted) return
    view = next
    await firewall.apply(next)
    // Another program may have removed the rules since, or what kept them from being in force is gone.
    if (!isInForce || firewall.status().mayCarryPackets !== mayCarryPackets) await applyTunnel()
  }

  async function remember(known: KnownMesh): Promise<void> {
    if (member.view === undefined || isDeepStrictEqual(known, remembered)) return
    await deps.remember(known)
    remembered = known
  }

  return {
    async apply() {
      const known = knownNow(deps)
      if (known === undefined) return
      accepted = accept(known)
      relays.take(accepted.peers)
      await applyPoliciesAndTunnel({
        interfaceName: device.name,
        ownAddress: deps.network().ownAddress,
        policies: known.policies,
        peers: accepted.peers.map(firewallPeer),
        forwards: deps.forwards(),
      })
      // Nothing is written once the agent takes away what it has written.
      if (until.aborted) return
      published = namesOf(member, deps.network(), accepted.peers)
      await names.publish(published)
      await remember(known)
      await settingRoutes
    },
    async enforce() {
      if (view === undefined) return false
      const { mayCarryPackets } = firewall.status()
      await firewall.apply(view)
      return firewall.status().mayCarryPackets !== mayCarryPackets
    },
    async republish() {
      if (published !== undefined) await names.publish(published)
    },
    forgetPuts() {
      puts = new Map()
    },
    replaceEndpoints(moves) {
      lost = new Map([...lost, ...moves])
    },
    present(statuses) {
      const byKey = new Map(statuses.map((status) => [status.publicKey, status]))
      return accepted.peers.flatMap(({ node_id: nodeId, public_key: publicKey, endpoint: given, ...peer }) => {
        const put = puts.get(nodeId)
        const status = byKey.get(put?.publicKey ?? publicKey)
        const { candidates, fallback_endpoint: fallback } = peer
        return status === undefined ? [] : [{ nodeId, status, given, candidates, fallback, placed: put?.placed }]
      })
    },
    accepted: () => accepted,
  }
}

/** What is refused now and was not, or for another reason. */
function changes(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] {
  return [...now].filter(([name, why]) => before.get(name) !== why)
}

function termsOf({ member, network, taken, machine }: ApplierDeps): PeerTerms {
  const hosted = hostedSubnets(member.bridges?.list() ?? [])
  const ownPublicKey = publicKeyOf(member.identity.private_key)
  return { ...network(), ownPublicKey, taken: taken(), machine: machine(), hosted }
}

function knownNow({ member, knownBefore }: ApplierDeps): KnownMesh | undefined {
  if (member.view === undefined) return knownBefore
  const policies: readonly ReadPolicy[] = member.policies?.list() ?? []
  return { peers: member.view.list(), policies }
}

async function presentOf({ member, device, keepaliveSeconds, now, relays }: ApplierDeps) {
  const { peers }: { readonly peers: readonly PeerStatus[] } = await device.status()
  const isRelay = (endpoint: string): boolean => relays.has(endpoint)
  return { keys: member.keys, device: peers, isRelay, keepaliveSeconds: keepaliveSeconds(), nowMs: now() }
}

function firewallPeer({ node_id: nodeId, mesh_address: address, groups, subnets }: PeerFacts) {
  return { nodeId, address, groups, subnets }
}

/** Peers of older servers have no name. */
function namesOf(
  { self, identity }: RealMember,
  { ownAddress }: MeshNetwork,
  peers: readonly PeerFacts[],
): readonly MeshName[] {
  const others = peers.filter(({ name }) => name !== '').map(({ name, mesh_address: address }) => ({ name, address }))
  return [{ name: self?.name ?? identity.name, address: ownAddress }, ...others]
}
