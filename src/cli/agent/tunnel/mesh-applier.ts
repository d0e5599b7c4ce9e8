import { isDeepStrictEqual } from 'node:util'
import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import type { ReadPolicy } from '../../../client/agent/policies/own-policies.ts'
import type { Device, PeerStatus } from '../device/device.ts'
import type { ReachablePeer } from '../endpoints/lost-peers.ts'
import type { Log } from '../log.ts'
import type { FirewallView } from '../firewall/firewall-view.ts'
import type { Firewall } from '../firewall/firewall.ts'
import type { MeshName, MeshNames } from '../names/mesh-names.ts'
import type { RealMember } from '../real-member.ts'
import { acceptPeers, type AcceptedPeers, type PeerTerms } from '../server-answers/accept-peers.ts'
import type { MeshNetwork } from '../server-answers/mesh-network.ts'
import type { KnownMesh } from '../state/known-mesh.ts'
import { planTunnel, type PutPeer } from './plan-tunnel.ts'
import { publicKeyOf } from './raw-keys.ts'

/** Brings this machine to what the agent knows of the mesh. */
export interface MeshApplier {
  /** Applies everything that differs: policies first, then peers, routes and names. */
  apply(): Promise<void>
  /** The device has lost its peers: the next round puts all of them. */
  forgetPuts(): void
  /** Nothing comes from these peers, by node id: the next round gives them the endpoint of the server. */
  replaceEndpoints(nodeIds: readonly string[]): void
  /** The peers that were taken and that are among those of the device. */
  present(device: readonly PeerStatus[]): readonly ReachablePeer[]
  /** The peers that were taken and refused in the last round. */
  accepted(): AcceptedPeers
}

/** What the applier needs. */
export interface ApplierDeps {
  readonly member: RealMember
  readonly device: Device
  readonly firewall: Firewall
  readonly names: MeshNames
  readonly log: Log
  readonly now: () => number
  readonly network: () => MeshNetwork
  readonly taken: () => ReadonlySet<string>
  readonly keepaliveSeconds: () => number
  /** What an earlier run knew; it holds until the first pull. */
  readonly knownBefore: KnownMesh | undefined
  /** Writes down what is known now. */
  readonly remember: (known: KnownMesh) => Promise<void>
}

const NOTHING: AcceptedPeers = { peers: [], refused: new Map() }

/** Makes the applier. */
export function createMeshApplier(deps: ApplierDeps): MeshApplier {
  const { member, device, firewall, names, log } = deps
  let puts: ReadonlyMap<string, PutPeer> = new Map()
  let accepted = NOTHING
  let lost: ReadonlySet<string> = new Set()
  let view: FirewallView | undefined

  function accept({ peers }: KnownMesh): AcceptedPeers {
    const next = acceptPeers(peers, termsOf(deps))
    for (const [nodeId, why] of next.refused)
      if (accepted.refused.get(nodeId) !== why) log.line(`peer ${nodeId} is refused: ${why}`)
    return next
  }

  async function changeDevice(peers: readonly PeerFacts[]): Promise<void> {
    const plan = planTunnel({ ...(await presentOf(deps)), peers, puts, lost })
    lost = new Set()
    if (plan.put.length + plan.remove.length > 0) await device.change(plan)
    puts = plan.puts
    if (plan.moved.length > 0) await device.wake(plan.moved)
    await device.setRoutes(plan.routes)
  }

  return {
    async apply() {
      const known = knownNow(deps)
      if (known === undefined) return
      accepted = accept(known)
      const next = { interfaceName: device.name, policies: known.policies, peers: accepted.peers.map(firewallPeer) }
      // Where only keys or endpoints have changed, the device does not wait for a look at the rules.
      const isInForce = isDeepStrictEqual(next, view)
      if (!isInForce) await firewall.apply(next)
      view = next
      // Before the first pull the peers of the device stay as an earlier run has left them.
      if (member.view !== undefined) await changeDevice(firewall.status().mayCarryPackets ? accepted.peers : [])
      if (isInForce) await firewall.apply(next)
      await names.publish(namesOf(member, deps.network(), accepted.peers))
      if (member.view !== undefined) await deps.remember(known)
    },
    forgetPuts() {
      puts = new Map()
    },
    replaceEndpoints(nodeIds) {
      lost = new Set(nodeIds)
    },
    present(statuses) {
      const byKey = new Map(statuses.map((status) => [status.publicKey, status]))
      return accepted.peers.flatMap(({ node_id: nodeId, public_key: publicKey, endpoint: given }) => {
        const put = puts.get(nodeId)
        const status = byKey.get(put?.publicKey ?? publicKey)
        return status === undefined ? [] : [{ nodeId, status, given, placed: put?.placed }]
      })
    },
    accepted: () => accepted,
  }
}

function termsOf({ member, network, taken }: ApplierDeps): PeerTerms {
  return { ...network(), ownPublicKey: publicKeyOf(member.identity.private_key), taken: taken() }
}

function knownNow({ member, knownBefore }: ApplierDeps): KnownMesh | undefined {
  if (member.view === undefined) return knownBefore
  const policies: readonly ReadPolicy[] = member.policies?.list() ?? []
  return { peers: member.view.list(), policies }
}

async function presentOf({ member, device, keepaliveSeconds, now }: ApplierDeps) {
  const { peers }: { readonly peers: readonly PeerStatus[] } = await device.status()
  return { keys: member.keys, device: peers, keepaliveSeconds: keepaliveSeconds(), nowMs: now() }
}

function firewallPeer({ node_id: nodeId, mesh_address: address, groups }: PeerFacts) {
  return { nodeId, address, groups }
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
