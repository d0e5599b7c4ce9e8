import type { Backend } from '../../../src/server/composition/backend.ts'
import { mounted, type MountedSurface } from '../../../src/server/http/request-context.ts'
import type { AcmeDirectories } from '../../../src/server/ports/acme-directories.ts'
import { createSlice } from '../../../src/server/slices/bridge/slice.ts'
import { contract } from '../../../src/shared/contract/index.ts'
import type { TestStore } from '../datastores/stores.ts'
import { madeOver, type Answer, type Making } from '../server/control-plane.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'

/** A resource of kind bridge, and the words for it. */
export interface BridgeUnderTest {
  readonly id: string
  /** Path of the bridge. */
  readonly at: string
}

/** Words for bridges of a Project. */
export interface Bridges {
  readonly domainId: string
  readonly projectId: string
  /** Creates a bridge with these hosts. */
  bridge(hostIds?: readonly string[]): Promise<BridgeUnderTest>
  /** Calls an operation on the bridge as root: `PUT /relay`. */
  on(bridge: BridgeUnderTest, operation: string, body?: unknown): Promise<Answer>
  /** Does so; anything but success throws. */
  make(bridge: BridgeUnderTest, operation: string, body?: unknown): Promise<Answer>
  /** Replaces the hosts of the bridge. */
  host(bridge: BridgeUnderTest, hostIds: readonly string[]): Promise<Answer>
  /** Deletes the resource. */
  tearDown(bridge: BridgeUnderTest): Promise<Answer>
  /** The stored effective configuration of the bridge; undefined without one. */
  configOf(bridge: BridgeUnderTest): Promise<Readonly<Record<string, unknown>> | undefined>
  /** Literals and payloads of the outbox rows about the bridge, oldest first. */
  eventsOf(bridge: BridgeUnderTest): Promise<readonly (readonly [string, unknown])[]>
}

/** Answers for ACME directories; a test replaces `check` to refuse. */
export interface Acme {
  check: AcmeDirectories['check']
}

/** A control plane with bridges. */
export interface BridgeFleet extends Tenancy, Bridges {
  readonly acme: Acme
}

/** The relay with which bridges are tried. */
export const RELAY = { enabled: true, listen_port: 51_821 } as const

export async function startBridgeFleet(store: TestStore, more: Making = { surfaces: [] }): Promise<BridgeFleet> {
  const acme: Acme = { check: async () => undefined }
  const tenancy = await startTenancy(store, (backend) => {
    const made = madeOver(backend, more)
    return { ...made, surfaces: [bridgeSurface(backend, acme), ...made.surfaces] }
  })
  return { ...tenancy, ...(await arrangeBridges(tenancy)), acme }
}

/** Bridges over the backend, with ACME directories of the test. */
export function bridgeSurface(backend: Backend, acme: Acme): MountedSurface {
  const acmeDirectories: AcmeDirectories = { check: (ref, place) => acme.check(ref, place) }
  return mounted(contract.bridge, createSlice({ ...backend, acmeDirectories }).handlers.bridge)
}

/** Makes a Domain `acme` with a Project `edge`, and the words for bridges in it. */
export async function arrangeBridges(tenancy: Tenancy): Promise<Bridges> {
  const { root, call, db } = tenancy
  const domainId = await tenancy.domain('acme')
  const projectId = await tenancy.project(domainId, 'edge')
  const resources = `/v1/projects/${projectId}/resources`
  let slugs = 0

  const on: Bridges['on'] = ({ at }, operation, body) => {
    const [method = '', path = ''] = operation.split(' ')
    return call(root, `${method} ${at}${path}`, body)
  }

  return {
    domainId,
    projectId,
    async bridge(hostIds = []) {
      slugs += 1
      const body = { kind: 'bridge', slug: `bridge-${slugs}`, display_name: 'B', host_node_ids: hostIds }
      const answer = await call(root, `POST ${resources}`, body)
      if (answer.status !== 201) throw new Error(`no bridge: ${JSON.stringify(answer.body)}`)
      const id = String(answer.body['id'])
      return { id, at: `${resources}/${id}/bridge` }
    },
    on,
    async make(bridge, operation, body) {
      const answer = await on(bridge, operation, body)
      if (answer.status >= 300) throw new Error(`${operation}: ${JSON.stringify(answer.body)}`)
      return answer
    },
    host: ({ id }, hostIds) => call(root, `PATCH ${resources}/${id}`, { host_node_ids: hostIds }),
    tearDown: ({ id }) => call(root, `DELETE ${resources}/${id}`),
    async configOf({ id }) {
      const row = await db
        .selectFrom('bridge_configs')
        .select('effective_config')
        .where('resource_id', '=', id)
        .executeTakeFirst()
      return row && JSON.parse(row.effective_config)
    },
    async eventsOf({ id }) {
      const rows = await db
        .selectFrom('outbox')
        .select(['event', 'payload'])
        .where('aggregate', '=', `resource:${id}`)
        .where('event', 'like', 'bridge.%')
        .orderBy('id')
        .execute()
      return rows.map(({ event, payload }) => [event, payload] as const)
    },
  }
}

/** A valid provider with that slug; the members replace others. */
export function provider(slug: string, members: object = {}): Readonly<Record<string, unknown>> {
  return {
    slug,
    kind: 'wireguard',
    interface_name: `wg-${slug}`,
    listen_port: 51_830,
    max_peers: 50,
    auth_secret_ref: 'secret:acme/edge/staff',
    routing_policy: { b: 1, a: [true] },
    ...members,
  }
}

/** A valid ingress rule with that slug. */
export function rule(slug: string, targetId: string, members: object = {}): Readonly<Record<string, unknown>> {
  return {
    slug,
    sni_host: `${slug}.example.org`,
    target_node_id: targetId,
    target_port: 8080,
    ...members,
  }
}

/** A valid tunnel with that slug. */
export function tunnel(slug: string, members: object = {}): Readonly<Record<string, unknown>> {
  return {
    slug,
    kind: 'wireguard',
    remote_host: 'vpn.example.org',
    remote_port: 51_820,
    auth_secret_ref: 'secret:acme/edge/hq',
    allowed_subnets: ['10.30.0.0/16', '10.20.0.0/16'],
    routing_policy: 'bidirectional',
    ...members,
  }
}

/** The body with which a part is replaced: it has no slug. */
export function withoutSlug({ slug: _slug, ...body }: Readonly<Record<string, unknown>>): object {
  return body
}
