import type { ApiClient } from '../../client/agent/agent-deps.ts'

/** A bridge of the simulator. */
export interface MadeBridge {
  /** Path members of its operations. */
  readonly at: { readonly project_id: string; readonly resource_id: string }
  readonly secretName: string
  readonly secretRef: string
  /** The node to which its ingress rules lead. */
  readonly targetId: string
  /** Number of changes so far. */
  turn: number
  /** Its hosts after it was moved that many times. */
  readonly hostsAfter: (moves: number) => readonly string[]
  /** Ids of all nodes that have hosted a bridge. */
  readonly hosts: Set<string>
}

/** How a change calls the server. */
export interface Operator {
  readonly client: ApiClient
  /** `toleratedCodes`: the call may have been carried out by an earlier try. */
  readonly operate: <T>(call: () => Promise<T>, toleratedCodes?: readonly string[]) => Promise<T | undefined>
}

type BridgeChange = (operator: Operator, bridge: MadeBridge) => Promise<unknown>

/** Listening ports of relays, and target ports of rules, one after another from these. */
const RELAY_PORT = 40_000
const TARGET_PORT = 8_000
const PORTS = 1_000
const POLICIES = ['bidirectional', 'ingress_only', 'egress_only'] as const

const portAfter = (first: number, turn: number): number => first + (turn % PORTS)

const putSecret: BridgeChange = ({ client, operate }, { at, secretName: name, turn }) =>
  operate(() => client.PutSecret({ id: at.project_id, name, body: { value: `simulated ${turn}` } }))

const putRelay: BridgeChange = ({ client, operate }, { at, turn }) =>
  operate(() =>
    client.ConfigureBridgeRelay({ ...at, body: { enabled: turn % 4 !== 3, listen_port: portAfter(RELAY_PORT, turn) } }),
  )

const tunnelOf = ({ secretRef, turn }: MadeBridge) => ({
  kind: 'wireguard' as const,
  remote_host: 'vpn.example.org',
  remote_port: 51_820,
  auth_secret_ref: secretRef,
  allowed_subnets: ['192.168.10.0/24'],
  routing_policy: POLICIES[turn % POLICIES.length] ?? 'bidirectional',
})

const ruleOf = ({ targetId, turn }: MadeBridge, name: string) => ({
  sni_host: `${name}.example.org`,
  target_node_id: targetId,
  target_port: portAfter(TARGET_PORT, turn),
})

const patchTunnel: BridgeChange = ({ client, operate }, bridge) =>
  operate(() => client.UpdateBridgeSiteToSiteTunnel({ ...bridge.at, slug: 'hq', body: tunnelOf(bridge) }))

const patchRule: BridgeChange = ({ client, operate }, bridge) =>
  operate(() => client.UpdateBridgeIngressRule({ ...bridge.at, slug: 'shop', body: ruleOf(bridge, 'shop') }))

/** Adds a rule, and removes it the next time. Its port is beyond those of the other rule. */
const addRule: BridgeChange = ({ client, operate }, bridge) => {
  const body = { slug: 'extra', ...ruleOf(bridge, 'extra'), target_port: TARGET_PORT + PORTS }
  return operate(() => client.CreateBridgeIngressRule({ ...bridge.at, body }), ['slug_conflict'])
}

const removeRule: BridgeChange = ({ client, operate }, { at }) =>
  operate(() => client.DeleteBridgeIngressRule({ ...at, slug: 'extra' }), ['ingress_rule_not_found'])

const moveHosts: BridgeChange = ({ client, operate }, { at, turn, hosts, hostsAfter }) => {
  const host_node_ids = [...hostsAfter(turn)]
  host_node_ids.forEach((id) => hosts.add(id))
  return operate(() =>
    client.PatchResource({ id: at.project_id, resource_id: at.resource_id, body: { host_node_ids } }),
  )
}

/** The changes of a bridge, in their order; then from the start. */
export const BRIDGE_CHANGES: readonly BridgeChange[] = [
  putRelay,
  patchTunnel,
  addRule,
  putSecret,
  patchRule,
  moveHosts,
  removeRule,
]

/** Gives a new bridge a secret, a relay, user access, an ingress rule and a tunnel. */
export async function fillBridge(operator: Operator, bridge: MadeBridge): Promise<void> {
  const { client, operate } = operator
  const { at, secretRef } = bridge
  await putSecret(operator, bridge)
  await putRelay(operator, bridge)
  const provider = {
    slug: 'staff',
    kind: 'wireguard' as const,
    interface_name: 'wg-staff',
    listen_port: 51_900,
    max_peers: 100,
    auth_secret_ref: secretRef,
    routing_policy: {},
  }
  await operate(() => client.CreateBridgeUserAccessProvider({ ...at, body: provider }), ['slug_conflict'])
  const rule = { slug: 'shop', ...ruleOf(bridge, 'shop') }
  await operate(() => client.CreateBridgeIngressRule({ ...at, body: rule }), ['slug_conflict'])
  const tunnel = { slug: 'hq', ...tunnelOf(bridge) }
  await operate(() => client.CreateBridgeSiteToSiteTunnel({ ...at, body: tunnel }), ['slug_conflict'])
}
