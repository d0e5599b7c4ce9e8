import { sql } from 'kysely'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createNodeState, type NodeState } from '../../../src/server/slices/node-state/service.ts'
import { createJoinTokenResolver } from '../../../src/server/slices/join-tokens/join-token-resolver.ts'
import { createNskResolver } from '../../../src/server/slices/nodes/nsk-resolver.ts'
import type { Db } from '../../../src/server/ports/datastore.ts'
import { ownStateChanged, peersChanged, peersChangedWhole } from '../../../src/server/sql/state-revisions.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { nodeState } from '../../../src/shared/contract/node-state.ts'
import { madeOver, startReplicaOf, type ControlPlane, type Making } from '../server/control-plane.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import { failingDatastore } from '../datastores/failing-datastore.ts'
import { startFleet, type Fleet } from './fleet.ts'
import type { TestStore } from '../datastores/stores.ts'

/** Pulls of one replica. */
export interface Pulling {
  readonly service: NodeState
  pull(as: string, nodeId: string, ifNoneMatch?: string): Promise<PulledState>
}

/** An answer to a pull, its document as it came and parsed. */
export interface PulledState {
  readonly status: number
  readonly headers: Headers
  readonly etag: string
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A fleet whose nodes pull their state. */
export interface StatefulFleet extends Fleet, Pulling {}

const STALE = { ttlMs: 300_000, entriesMax: 10_000 }

/** The states, and the credentials that nodes pull them with, come from a datastore that goes away when it is told to. */
export async function startStatefulFleet(
  store: TestStore,
  outage = failingDatastore(),
  more: Making = { surfaces: [] },
): Promise<StatefulFleet> {
  const made: NodeState[] = []
  const failing = (parts: Backend): Backend => ({
    ...parts,
    datastore: outage.over(parts.datastore),
    feed: {
      ...parts.feed,
      isFresh: () => !outage.isAway && parts.feed.isFresh(),
      untilFresh: async () => !outage.isAway && (await parts.feed.untilFresh()),
    },
  })
  const fleet = await startFleet(store, (backend) => {
    const away = failing(backend)
    return {
      surfaces: [surfaceOf(away, made), ...madeOver(backend, more).surfaces],
      resolvers: [createNskResolver({ ...away, changeFeed: away.feed }), createJoinTokenResolver(backend)],
    }
  })
  return { ...fleet, ...pullingOf(fleet, made) }
}

/** Another replica over the datastore of the first, which answers pulls alone. Stop it before the first. */
export async function startPullingReplica(first: StatefulFleet): Promise<ControlPlane & Pulling> {
  const made: NodeState[] = []
  const plane = await startReplicaOf(first, (backend) => ({ surfaces: [surfaceOf(backend, made)] }))
  return { ...plane, ...pullingOf(plane, made) }
}

function surfaceOf({ datastore }: Backend, made: NodeState[]) {
  const onFailure = (error: unknown) => {
    throw new Error('pulls could not be stored', { cause: error })
  }
  const service = createNodeState({ datastore, staleStates: STALE, onFailure })
  made.push(service)
  return mounted(nodeState, service.handlers)
}

function pullingOf({ url }: ControlPlane, [service]: readonly NodeState[]): Pulling {
  if (service === undefined) throw new Error('no service was made')
  return {
    service,
    async pull(as, nodeId, ifNoneMatch) {
      const response = await fetch(`${url}/v1/nodes/${nodeId}/state`, {
        headers: { authorization: `Bearer ${as}`, ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }) },
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        etag: response.headers.get('etag') ?? '',
        text,
        body: text === '' ? {} : JSON.parse(text),
      }
    },
  }
}

/** What services write that are not under test, each with the revision that it raises. */
export function stateRows({ datastore, ids, clock }: Pick<Fleet, 'datastore' | 'ids' | 'clock'>) {
  const change = <T>(work: (tx: Db) => Promise<T>): Promise<T> => datastore.transaction('interactive', work)
  const now = () => new Date(clock.nowMs)
  const inMinutes = (minutes: number) => new Date(clock.nowMs + minutes * 60_000)

  async function endpoint(domainId: string, nodeId: string, place: { host: string; port: number } | null) {
    await change(async (tx) => {
      await peersChanged(tx, domainId, [nodeId])
      const stale = { last_endpoint_stale_at: place === null ? now() : null }
      const seen = place === null ? {} : { last_endpoint: place.host, last_endpoint_port: place.port }
      await tx
        .insertInto('node_endpoints')
        .values({
          node_id: nodeId,
          domain_id: domainId,
          last_endpoint: '192.0.2.1',
          last_endpoint_port: 1,
          nat_type: 'cone',
          last_endpoint_reported_at: now(),
          ...seen,
          ...stale,
        })
        .onConflict((on) => on.column('node_id').doUpdateSet({ ...seen, ...stale }))
        .execute()
    })
  }

  async function relays(domainId: string, first: string | null, second: string | null) {
    await change(async (tx) => {
      await peersChangedWhole(tx, domainId)
      await tx
        .updateTable('domain_peers')
        .set({ relay_node_id: first, relay_port: 51_821, second_relay_node_id: second, second_relay_port: 51_822 })
        .where('domain_id', '=', domainId)
        .execute()
    })
  }

  async function rotate(domainId: string, nodeId: string, key: Buffer) {
    await change(async (tx) => {
      await peersChanged(tx, domainId, [nodeId])
      await ownStateChanged(tx, [nodeId], 'node')
      await tx
        .updateTable('nodes')
        .set({ public_key: key, psk_issued_at: sql<string>`psk_issued_at + 1` })
        .where('id', '=', nodeId)
        .execute()
    })
  }

  /** Locked, as a node that is deregistered meanwhile could not be matched. */
  async function matching(tx: Db, domainId: string, selector: Readonly<Record<string, string>>) {
    const rows = await tx
      .selectFrom('nodes')
      .select('id')
      .where('domain_id', '=', domainId)
      .where(sql<boolean>`labels @> ${JSON.stringify(selector)}::jsonb`)
      .orderBy('id')
      .forKeyShare()
      .execute()
    return rows.map(({ id }) => id)
  }

  /** Puts a revision of the policy in force for the nodes with these labels, and makes the policy where there is none. */
  async function policy(domainId: string, { id, selector, rules }: PolicyRow) {
    const revisionId = ids.next()
    await change(async (tx) => {
      const [former, next] = [await matchedBy(tx, id), await matching(tx, domainId, selector)]
      await ownStateChanged(tx, [...new Set([...former, ...next])])
      const inForce = { revision_id: revisionId, applied_revision_id: revisionId, updated_at: now() }
      await tx
        .insertInto('policies')
        .values({ id, domain_id: domainId, slug: id, created_at: now(), ...inForce })
        .onConflict((on) => on.column('id').doUpdateSet(inForce))
        .execute()
      const { revisions } = await tx
        .selectFrom('policy_revisions')
        .select(sql<number>`count(*)::int`.as('revisions'))
        .where('policy_id', '=', id)
        .executeTakeFirstOrThrow()
      await tx
        .insertInto('policy_revisions')
        .values({
          id: revisionId,
          policy_id: id,
          domain_id: domainId,
          number: revisions + 1,
          display_name: 'P',
          selector: '*',
          document: JSON.stringify({ selector: '*', rules: [], tests: [] }),
          rules: canonicalize(rules),
          fingerprint: `fingerprint of ${rules.length}`,
          created_by: 'user:somebody',
          created_at: now(),
        })
        .execute()
      await tx.deleteFrom('policy_matches').where('policy_id', '=', id).execute()
      await sql`
        insert into policy_matches select ${id}, node_id from unnest(${next}::uuid[]) as node_id`.execute(tx)
    })
    return revisionId
  }

  async function withoutPolicy(id: string) {
    await change(async (tx) => {
      await ownStateChanged(tx, await matchedBy(tx, id))
      await tx.deleteFrom('policies').where('id', '=', id).execute()
    })
  }

  async function bridgeConfig(domainId: string, resourceId: string, config: object) {
    await change(async (tx) => {
      const hosts = await tx
        .selectFrom('resource_hosts')
        .select('node_id')
        .where('resource_id', '=', resourceId)
        .execute()
      await ownStateChanged(
        tx,
        hosts.map(({ node_id }) => node_id),
      )
      const effective_config = canonicalize(config)
      await tx
        .insertInto('bridge_configs')
        .values({ resource_id: resourceId, domain_id: domainId, effective_config, updated_at: now() })
        .onConflict((on) => on.column('resource_id').doUpdateSet({ effective_config }))
        .execute()
    })
  }

  /** As the node itself reports it. */
  async function report(nodeId: string, key: string, value: unknown) {
    await change(async (tx) => {
      await ownStateChanged(tx, [nodeId], 'node')
      const row = { value: canonicalize(value), updated_at: now() }
      await tx
        .insertInto('node_state_reports')
        .values({ node_id: nodeId, key, ...row })
        .onConflict((on) => on.columns(['node_id', 'key']).doUpdateSet(row))
        .execute()
    })
  }

  async function execution(node: Place, parameters: object | null) {
    const id = ids.next()
    await change(async (tx) => {
      await ownStateChanged(tx, [node.nodeId])
      await tx
        .insertInto('executions')
        .values({
          id,
          node_id: node.nodeId,
          domain_id: node.domainId,
          action: 'ping "all"',
          type: 'builtin',
          parameters: parameters === null ? null : canonicalize(parameters),
          status: 'pending',
          requested_by: 'user:somebody',
          requested_at: now(),
          expires_at: inMinutes(5),
          started_at: null,
          finished_at: null,
          exit_code: null,
          output: null,
          error: null,
        })
        .execute()
    })
    return id
  }

  async function executionIs(nodeId: string, id: string, status: 'ack' | 'started' | 'succeeded') {
    await change(async (tx) => {
      await ownStateChanged(tx, [nodeId], 'node')
      const finished_at = status === 'succeeded' ? now() : null
      await tx.updateTable('executions').set({ status, finished_at }).where('id', '=', id).execute()
    })
  }

  async function session(node: Place, projectId: string, idleTimeoutSeconds: number | null) {
    const id = ids.next()
    await change(async (tx) => {
      await ownStateChanged(tx, [node.nodeId])
      await tx
        .insertInto('mediated_sessions')
        .values({
          id,
          domain_id: node.domainId,
          project_id: projectId,
          node_id: node.nodeId,
          kind: 'ssh',
          target: 'röot@localhost:22',
          issued_by: 'user:somebody',
          issued_at: now(),
          expires_at: inMinutes(60),
          idle_timeout_seconds: idleTimeoutSeconds,
          last_active_at: null,
          revoked_at: null,
          ended_at: null,
        })
        .execute()
    })
    return id
  }

  async function sessionIsOver(nodeId: string, id: string, how: 'revoked_at' | 'ended_at') {
    await change(async (tx) => {
      await ownStateChanged(tx, [nodeId])
      await tx
        .updateTable('mediated_sessions')
        .set({ [how]: now() })
        .where('id', '=', id)
        .execute()
    })
  }

  return {
    endpoint,
    relays,
    rotate,
    policy,
    withoutPolicy,
    bridgeConfig,
    report,
    execution,
    executionIs,
    session,
    sessionIsOver,
  }
}

interface Place {
  readonly nodeId: string
  readonly domainId: string
}

interface PolicyRow {
  readonly id: string
  readonly selector: Readonly<Record<string, string>>
  readonly rules: readonly unknown[]
}

async function matchedBy(tx: Db, policyId: string): Promise<string[]> {
  const rows = await tx.selectFrom('policy_matches').select('node_id').where('policy_id', '=', policyId).execute()
  return rows.map(({ node_id }) => node_id)
}
