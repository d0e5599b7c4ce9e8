import type { bridge } from '../../../src/shared/contract/bridge.ts'
import type { Scenarios, ValidCall } from '../scenario.ts'
import { freshPublicKey, type World } from '../world.ts'

/** Scenarios of bridges. */
export const bridgeScenarios: Scenarios<World, typeof bridge> = {
  async GetBridgeRelay(world) {
    const bridge = await makeBridge(world)
    await world.make('ConfigureBridgeRelay', { ...bridge, body: RELAY })
    return { input: bridge, ...callers(world) }
  },
  async ConfigureBridgeRelay(world) {
    return { input: { ...(await makeBridge(world)), body: RELAY }, ...callers(world) }
  },

  async CreateBridgeUserAccessProvider(world) {
    return { input: { ...(await makeBridge(world)), body: await providerOf(world) }, ...callers(world) }
  },
  async ListBridgeUserAccessProviders(world) {
    const bridge = await makeBridge(world)
    for (const _ of ['one', 'two'])
      await world.make('CreateBridgeUserAccessProvider', { ...bridge, body: await providerOf(world) })
    return { input: bridge, ...callers(world) }
  },
  async GetBridgeUserAccessProvider(world) {
    return { input: await makeProvider(world), ...callers(world) }
  },
  async UpdateBridgeUserAccessProvider(world) {
    const { slug: _slug, ...body } = await providerOf(world)
    return { input: { ...(await makeProvider(world)), body: { ...body, max_peers: 9 } }, ...callers(world) }
  },
  async DeleteBridgeUserAccessProvider(world) {
    return { input: await makeProvider(world), ...callers(world) }
  },

  async CreateBridgeUserAccessPeer(world) {
    return { input: { ...(await makeProvider(world)), body: peerOf(world) }, ...callers(world) }
  },
  async ListBridgeUserAccessPeers(world) {
    const provider = await makeProvider(world)
    for (const _ of ['one', 'two']) await world.make('CreateBridgeUserAccessPeer', { ...provider, body: peerOf(world) })
    return { input: provider, ...callers(world) }
  },
  async DeleteBridgeUserAccessPeer(world) {
    const [provider, body] = [await makeProvider(world), peerOf(world)]
    await world.make('CreateBridgeUserAccessPeer', { ...provider, body })
    return { input: { ...provider, peer: body.name }, ...callers(world) }
  },

  async CreateBridgeIngressRule(world) {
    const [bridge, body] = [await makeBridge(world), await ruleOf(world)]
    const foreign = { ...body, target_node_id: (await world.node()).id }
    return { input: { ...bridge, body }, variants: [{ ...bridge, body: foreign }], ...callers(world) }
  },
  async ListBridgeIngressRules(world) {
    const bridge = await makeBridge(world)
    for (const _ of ['one', 'two'])
      await world.make('CreateBridgeIngressRule', { ...bridge, body: await ruleOf(world) })
    return { input: bridge, ...callers(world) }
  },
  async GetBridgeIngressRule(world) {
    return { input: await makeRule(world), ...callers(world) }
  },
  async UpdateBridgeIngressRule(world) {
    const { slug: _slug, ...body } = await ruleOf(world)
    return { input: { ...(await makeRule(world)), body: { ...body, acme_account_ref: null } }, ...callers(world) }
  },
  async DeleteBridgeIngressRule(world) {
    return { input: await makeRule(world), ...callers(world) }
  },

  async CreateBridgeSiteToSiteTunnel(world) {
    return { input: { ...(await makeBridge(world)), body: await tunnelOf(world) }, ...callers(world) }
  },
  async ListBridgeSiteToSiteTunnels(world) {
    const bridge = await makeBridge(world)
    for (const _ of ['one', 'two'])
      await world.make('CreateBridgeSiteToSiteTunnel', { ...bridge, body: await tunnelOf(world) })
    return { input: bridge, ...callers(world) }
  },
  async GetBridgeSiteToSiteTunnel(world) {
    return { input: await makeTunnel(world), ...callers(world) }
  },
  async UpdateBridgeSiteToSiteTunnel(world) {
    const { slug: _slug, ...body } = await tunnelOf(world)
    const changed = { ...body, allowed_subnets: ['2001:db8:20::/48'] }
    return { input: { ...(await makeTunnel(world)), body: changed }, ...callers(world) }
  },
  async DeleteBridgeSiteToSiteTunnel(world) {
    return { input: await makeTunnel(world), ...callers(world) }
  },

  async CheckBridge(world) {
    return { input: { ...(await makeBridge(world)), body: { relay: RELAY } }, ...callers(world) }
  },
  async GetBridgeStatus(world) {
    const bridge = await makeBridge(world, [(await world.node()).id])
    await world.make('ConfigureBridgeRelay', { ...bridge, body: RELAY })
    return { input: bridge, ...callers(world) }
  },
}

const RELAY = { enabled: true, listen_port: 51_821 }

function callers({ root, nobody }: World): Pick<ValidCall, 'as' | 'lesser'> {
  return { as: root, lesser: nobody }
}

interface BridgePath {
  readonly project_id: string
  readonly resource_id: string
}

interface PartPath extends BridgePath {
  readonly slug: string
}

/** A new bridge, as paths name it. */
async function makeBridge(
  { projectId, make, name }: World,
  host_node_ids: readonly string[] = [],
): Promise<BridgePath> {
  const body = { kind: 'bridge', slug: name(), display_name: 'A bridge', host_node_ids }
  const { id } = await make('CreateResource', { id: projectId, body })
  return { project_id: projectId, resource_id: id }
}

/** A reference to a secret of the Project. Whether there is one is not asked. */
async function secretOf({ domainId, projectId, make }: World): Promise<string> {
  const domain = await make('GetDomain', { id: domainId })
  const project = await make('GetProject', { id: projectId })
  return `secret:${domain.slug}/${project.slug}/key`
}

let parts = 0

/** A number that no other part of one bridge has: what a bridge may have once differs from part to part. */
function nextNumber(): number {
  parts = (parts + 1) % 10_000
  return parts
}

async function providerOf(world: World) {
  const number = nextNumber()
  return {
    slug: world.name(),
    kind: 'wireguard' as const,
    interface_name: `wg${number}`,
    listen_port: 20_000 + number,
    max_peers: 50,
    auth_secret_ref: await secretOf(world),
    routing_policy: { metric: 1 },
    peer_subnet: `10.200.${number % 250}.0/24`,
  }
}

/** A device with a public key that no other one has. */
function peerOf({ name }: World) {
  return { name: name(), public_key: freshPublicKey() }
}

async function ruleOf(world: World) {
  const slug = world.name()
  return { slug, sni_host: `${slug}.example.org`, target_node_id: (await world.node()).id, target_port: 8080 }
}

async function tunnelOf(world: World) {
  const number = nextNumber()
  return {
    slug: world.name(),
    kind: 'wireguard' as const,
    remote_host: 'vpn.example.org',
    remote_port: 51_820,
    auth_secret_ref: await secretOf(world),
    allowed_subnets: [`10.${Math.floor(number / 256)}.${number % 256}.0/24`],
    routing_policy: 'bidirectional' as const,
  }
}

async function makeProvider(world: World): Promise<PartPath> {
  const [bridge, body] = [await makeBridge(world), await providerOf(world)]
  await world.make('CreateBridgeUserAccessProvider', { ...bridge, body })
  return { ...bridge, slug: body.slug }
}

async function makeRule(world: World): Promise<PartPath> {
  const [bridge, body] = [await makeBridge(world), await ruleOf(world)]
  await world.make('CreateBridgeIngressRule', { ...bridge, body })
  return { ...bridge, slug: body.slug }
}

async function makeTunnel(world: World): Promise<PartPath> {
  const [bridge, body] = [await makeBridge(world), await tunnelOf(world)]
  await world.make('CreateBridgeSiteToSiteTunnel', { ...bridge, body })
  return { ...bridge, slug: body.slug }
}
