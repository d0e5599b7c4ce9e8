import type { ActingReplicas } from '../support/server/acting-replicas.ts'
import { CHECKSUM, freshPublicKey } from '../support/fleet/fleet.ts'

/** A node as it presents itself. */
export interface Member {
  readonly node_id: string
  nsk: string
}

/** Where something is done to a node: through which replica, and in one of a few ways. */
export interface Occasion {
  readonly replicas: ActingReplicas
  readonly member: Member
  readonly via: number
  /** 0 to 3. */
  readonly variant: number
  readonly projectId: string
}

type Doing = (occasion: Occasion) => Promise<unknown>

const pathOf = ({ member }: Occasion): string => `/v1/nodes/${member.node_id}`
const nowOf = ({ replicas }: Occasion): string => new Date(replicas.fleet.clock.nowMs).toISOString()

const byNode = (occasion: Occasion, operation: string, body?: unknown) =>
  occasion.replicas.call(occasion.via, occasion.member.nsk, operation, body)
const byRoot = (occasion: Occasion, operation: string, body?: unknown) =>
  occasion.replicas.call(occasion.via, occasion.replicas.fleet.root, operation, body)

/** What nodes report, and what operators want of them; whether it is refused is for other tests to say. */
export const DEEDS = {
  endpoint: (on) =>
    byNode(on, `PUT ${pathOf(on)}/endpoint`, {
      endpoint: on.variant === 3 ? '[2001:db8::1]:1' : `198.51.100.${on.variant + 1}:51820`,
      nat_type: 'cone',
      reported_at: nowOf(on),
    }),
  capabilities: (on) => byNode(on, `PUT ${pathOf(on)}/capabilities`, binaryOf(on)),
  report: (on) =>
    byNode(on, `PUT ${pathOf(on)}/state/reports/k${on.variant}`, { value: { at: nowOf(on), ü: [on.variant, 1e21] } }),
  unreport: (on) => byNode(on, `DELETE ${pathOf(on)}/state/reports/k${on.variant}`),
  ask: (on) =>
    byRoot(on, `POST ${pathOf(on)}/executions`, {
      action: 'ping',
      type: 'builtin',
      ...(on.variant > 1 && { parameters: { b: on.variant, a: 'ä' } }),
    }),
  async advance(on) {
    const status = ['ack', 'started', 'succeeded', 'failed'][on.variant]
    return byNode(on, `POST ${pathOf(on)}/executions/${await openOf(on, 'executions')}`, { status })
  },
  issue: (on) =>
    byRoot(on, `POST /v1/projects/${on.projectId}/sessions`, {
      node_id: on.member.node_id,
      kind: 'ssh',
      target: 'röot@host',
      ...(on.variant > 1 && { idle_timeout_seconds: 30 * on.variant }),
    }),
  revoke: async (on) =>
    byRoot(on, `DELETE /v1/projects/${on.projectId}/sessions/${await openOf(on, 'mediated_sessions')}`),
  rotate: (on) => byRoot(on, `POST ${pathOf(on)}/keys/rotate`),
  complete: (on) => byNode(on, 'POST /v1/keys/rotate', { public_key: freshPublicKey() }),
  rename: (on) => byRoot(on, `PATCH ${pathOf(on)}`, { name: `renamed-${on.variant}` }),
  beat: (on) => byNode(on, `POST ${pathOf(on)}/heartbeat`, { ...binaryOf(on), client_now: nowOf(on) }),
  deregister: (on) => byRoot(on, `DELETE ${pathOf(on)}`),
} satisfies Readonly<Record<string, Doing>>

function binaryOf({ variant }: Occasion) {
  return { binary_checksum: CHECKSUM, binary_version: `1.${variant}` }
}

/** The oldest one of the node that is still open; an id that nothing has where there is none. */
async function openOf({ replicas: { fleet }, member }: Occasion, table: 'executions' | 'mediated_sessions') {
  const found = await fleet.db
    .selectFrom(table)
    .select('id')
    .where('node_id', '=', member.node_id)
    .where(table === 'executions' ? 'finished_at' : 'ended_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst()
  return found?.id ?? fleet.ids.next()
}
