import { NOW, type CliOptions } from '../cli/cli-run.ts'
import { refused, type StubAnswer, type StubRoutes } from '../cli/stub-server.ts'

export const DOMAIN_ID = '019c1a10-0000-7000-8000-0000000d0001'
const BEFORE = '2026-01-30T12:00:00.123000000Z'
const AFTER = '2026-02-01T12:00:01.000000000Z'

export interface RotatingNode {
  readonly id: string
  display_name: string
  reachability: string
  last_heartbeat_at: string | null
  created_at: string
  psk_issued_at: string
  rotation_pending: boolean
  endpoint: string | null
  labels: Readonly<Record<string, string>>
  /** Never completes a rotation. */
  isStuck: boolean
  /** The server refuses to act on it. */
  isRefused: boolean
  /** Its agent reports other epochs than the server holds. */
  isWrong: boolean
  isGone: boolean
  readonly mesh_address: string
}

export interface RotatingFleet {
  readonly nodes: readonly RotatingNode[]
  node(name: string): RotatingNode
  readonly routes: StubRoutes
  /** Names of the nodes that were asked to rotate, in that order. */
  readonly triggered: readonly string[]
}

/** A Domain whose nodes complete a rotation when they are looked at after it was asked for. */
export function rotatingFleet(
  names: readonly string[],
  change: (fleet: RotatingFleet) => void = () => undefined,
): RotatingFleet {
  const nodes = names.map((display_name, index): RotatingNode => ({
    id: `019c1a10-0000-7000-8000-${(0x110001 + index).toString(16).padStart(12, '0')}`,
    display_name,
    reachability: 'healthy',
    last_heartbeat_at: '2026-02-01T11:59:48.000Z',
    created_at: '2025-12-01T12:00:00.000Z',
    psk_issued_at: BEFORE,
    rotation_pending: false,
    endpoint: `203.0.113.${index + 1}:51820`,
    labels: {},
    isStuck: false,
    isRefused: false,
    isWrong: false,
    isGone: false,
    mesh_address: `100.64.0.${index + 1}`,
  }))
  const triggered: string[] = []
  const here = (): readonly RotatingNode[] => nodes.filter(({ isGone }) => !isGone)
  const routes: Record<string, StubRoutes[string]> = {
    'GET /v1/auth/whoami': { body: { subject: 'user:x', kind: 'user', domain_id: DOMAIN_ID, credential: {} } },
    'GET /v1/domains': { body: { items: [{ id: DOMAIN_ID, slug: 'default' }], next_cursor: null } },
    [`GET /v1/domains/${DOMAIN_ID}`]: { body: { id: DOMAIN_ID, slug: 'default' } },
    'GET /v1/nodes': ({ query }) => ({
      ...served,
      body: {
        items: here()
          .filter(({ display_name }) => !query.has('name') || display_name === query.get('name'))
          .filter(({ labels }) => hasAll(labels, query.get('labels')))
          .map((node) => viewOf(advanced(node))),
        next_cursor: null,
      },
    }),
    [`GET /v1/domains/${DOMAIN_ID}/mesh/topology`]: ({ query }) => ({ body: topologyOf(here(), query.get('node_id')) }),
    [`POST /v1/domains/${DOMAIN_ID}/mesh/edge-epochs/verify`]: () => ({ body: verified(here()) }),
  }
  for (const node of nodes) {
    const path = `/v1/nodes/${node.id}`
    const guarded = (answer: () => StubAnswer) => (): StubAnswer => {
      if (node.isGone) return refused(404, 'node_not_found', 'No such node exists.')
      return node.isRefused ? refused(403, 'permission_denied', 'The caller lacks the relation.') : answer()
    }
    const trigger = (): StubAnswer => {
      triggered.push(node.display_name)
      node.rotation_pending = true
      return { status: 202, body: handleOf(node) }
    }
    const remove = (): StubAnswer => {
      node.isGone = true
      return { status: 204 }
    }
    routes[`GET ${path}`] = () =>
      node.isGone ? refused(404, 'node_not_found', 'No such node exists.') : { ...served, body: viewOf(advanced(node)) }
    routes[`POST ${path}/keys/rotate`] = guarded(trigger)
    routes[`GET ${path}/keys/rotate`] = guarded(() => ({ body: handleOf(advanced(node)) }))
    routes[`GET ${path}/keys/rotate/preview`] = () => ({
      ...served,
      body: { node_id: node.id, edges: [], edge_count: here().length - 1, estimated_duration_seconds: 1 },
    })
    routes[`DELETE ${path}`] = guarded(remove)
  }
  const fleet: RotatingFleet = {
    nodes,
    routes,
    triggered,
    node(name) {
      const found = nodes.find(({ display_name }) => display_name === name)
      if (found === undefined) throw new Error(`the fleet has no ${name}`)
      return found
    },
  }
  change(fleet)
  return fleet
}

const served = { headers: { date: new Date(NOW).toUTCString() } }

/** The node after it has had time to complete what it was asked for. */
function advanced(node: RotatingNode): RotatingNode {
  const isAble = !node.isStuck && (node.reachability === 'healthy' || node.reachability === 'stale')
  if (!node.rotation_pending || !isAble) return node
  node.rotation_pending = false
  node.psk_issued_at = AFTER
  return node
}

function viewOf({ isStuck: _s, isRefused: _r, isWrong: _w, isGone: _g, ...node }: RotatingNode) {
  return {
    binary_version: '1.4.0',
    ...node,
    name: '',
    kind: '',
    domain_id: DOMAIN_ID,
    display_kind: 'vm',
    ephemeral: false,
  }
}

function hasAll(labels: Readonly<Record<string, string>>, wanted: string | null): boolean {
  return (wanted?.split(',') ?? []).every((pair) => labels[pair.split('=')[0] ?? ''] === pair.split('=')[1])
}

function handleOf({ id, rotation_pending }: RotatingNode) {
  return {
    rotation_id: '019c1a10-0000-7000-8000-0000000a0009',
    node_id: id,
    state: rotation_pending ? 'pending' : 'completed',
    requested_at: '2026-02-01T12:00:00.000Z',
    requested_by: 'user:x',
    completed_at: rotation_pending ? null : '2026-02-01T12:00:01.000Z',
  }
}

function verified(nodes: readonly RotatingNode[]) {
  const wrong = nodes.filter(({ isWrong }) => isWrong)
  const edges = nodes.length - 1
  return {
    nodes_checked: nodes.length,
    edges_checked: nodes.length * edges,
    agreeing: nodes.length - wrong.length,
    disagreeing: wrong.map(({ id }) => ({
      node_id: id,
      reason: 'epochs_differ',
      edges_expected: edges,
      edges_reported: edges,
    })),
  }
}

/** Nodes without an endpoint are relayed by the first node. */
function topologyOf(nodes: readonly RotatingNode[], from: string | null) {
  const relay = nodes[0]?.id ?? ''
  return {
    domain_id: DOMAIN_ID,
    nodes: nodes.map(({ id, display_name, mesh_address, reachability, endpoint }) => ({
      node_id: id,
      display_name,
      display_kind: 'vm',
      mesh_address,
      reachability,
      endpoint: endpoint ?? '',
    })),
    edges: nodes
      .filter(({ id }) => from === null || id === from)
      .flatMap((one) =>
        nodes
          .filter((other) => other !== one)
          .map((other) =>
            other.endpoint === null && one.id !== relay
              ? { from: one.id, to: other.id, mode: 'relayed', relay_node_id: relay, path: 'relayed' }
              : { from: one.id, to: other.id, mode: 'direct', path: 'direct' },
          ),
      ),
  }
}

/** A clock that only waiting moves, by whole seconds, so that a pause drawn at random shows nowhere. */
export function waitingClock(): Pick<CliOptions, 'nowMs' | 'sleep'> {
  let nowMs = NOW
  return {
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += Math.ceil(ms / 1000) * 1000
    },
  }
}
