import type { Db } from '../../../src/server/ports/datastore.ts'
import type { LabelValue } from '../../../src/shared/selectors/bind-selector.ts'
import type { Answer, UnderTest } from '../server/control-plane.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'
import type { TestStore } from '../datastores/stores.ts'
import { matchNewNodes } from '../../../src/server/policies/rematch-nodes.ts'
import { holdPeers } from '../../../src/server/sql/state-revisions.ts'

/** Objects that have labels here. */
export type Labelled = `${'node' | 'project' | 'domain'}:${string}`

/** A control plane with policies, and words to label nodes as the registry of labels does. */
export interface PolicedFleet extends Tenancy {
  /** Adds a node with these labels of its Domain, as a registration does. */
  labelledNode(place: { domainId: string; projectId?: string }, labels?: Labels): Promise<string>
  /** The name of a node that there is. */
  nodeName(nodeId: string | undefined): Promise<string>
  /** Defines a label of a Domain and returns its id. */
  define(domainId: string, key: string, members?: { type?: LabelType; inherit?: boolean }): Promise<string>
  /** Sets labels, or removes those without a value, and announces it. */
  label(domainId: string, object: Labelled, labels: Readonly<Record<string, LabelValue | undefined>>): Promise<void>
  /** Creates a policy of the Domain as root; anything but success throws. */
  policy(domainId: string, members?: Readonly<Record<string, unknown>>): Promise<Answer['body'] & { id: string }>
  /** What is stored of matches and groups of a node: slugs of policies, selectors of groups. */
  stateOf(nodeId: string): Promise<{ policies: string[]; groups: string[] }>
}

type LabelType = 'string' | 'integer' | 'boolean'
export type Labels = Readonly<Record<string, LabelValue>>

export async function startPolicedFleet(store: TestStore, more: Partial<UnderTest> = {}): Promise<PolicedFleet> {
  const tenancy = await startTenancy(store, { ...more, surfaces: ['policies', ...(more.surfaces ?? [])] })
  const { db, ids, clock, change, call, root } = tenancy
  let policies = 0

  const define: PolicedFleet['define'] = async (domainId, key, { type = 'string', inherit = false } = {}) => {
    const id = ids.next()
    const at = new Date(clock.nowMs)
    await db
      .insertInto('label_definitions')
      .values({
        id,
        scope_kind: 'domain',
        domain_id: domainId,
        project_id: null,
        local_key: key,
        qualified_key: `domain:${domainId}/${key}`,
        description: '',
        value_schema: JSON.stringify({ type }),
        on_delete: 'block',
        immutable: false,
        inherit,
        kinds: [],
        system: false,
        granted: true,
        created_at: at,
        updated_at: at,
      })
      .execute()
    return id
  }

  async function definitionOf(domainId: string, key: string): Promise<string> {
    const found = await db
      .selectFrom('label_definitions')
      .select('id')
      .where('domain_id', '=', domainId)
      .where('local_key', '=', key)
      .executeTakeFirst()
    return found?.id ?? define(domainId, key)
  }

  interface LabelPlace {
    readonly kind: string
    readonly object_id: string
    readonly qualified_key: string
  }

  async function remove(tx: Db, { kind, object_id, qualified_key }: LabelPlace): Promise<void> {
    await tx
      .deleteFrom('label_assignments')
      .where('kind', '=', kind)
      .where('object_id', '=', object_id)
      .where('qualified_key', '=', qualified_key)
      .execute()
  }

  async function put(tx: Db, place: LabelPlace & { definition_id: string }, value: LabelValue): Promise<void> {
    const at = new Date(clock.nowMs)
    const type = typeof value === 'number' ? 'integer' : typeof value
    const valued = {
      value: String(value),
      value_type: type as 'string' | 'integer' | 'boolean',
      number: typeof value === 'number' ? String(value) : null,
      updated_at: at,
    }
    await tx
      .insertInto('label_assignments')
      .values({ ...place, ...valued, assigned_by: 'user:somebody', created_at: at })
      .onConflict((on) => on.columns(['kind', 'object_id', 'qualified_key']).doUpdateSet(valued))
      .execute()
  }

  const label: PolicedFleet['label'] = async (domainId, object, labels) => {
    const [kind = '', objectId = ''] = object.split(':')
    for (const [key, value] of Object.entries(labels)) {
      const definitionId = await definitionOf(domainId, key)
      await change(async ({ db: tx, emit }) => {
        const place = { kind, object_id: objectId, qualified_key: `domain:${domainId}/${key}` }
        if (value === undefined) await remove(tx, place)
        else await put(tx, { ...place, definition_id: definitionId }, value)
        emit({
          event: 'node_labels_changed',
          domainId,
          aggregate: object,
          payload: { definition_id: definitionId, scope: object },
        })
      })
    }
  }

  return {
    ...tenancy,
    define,
    label,
    async nodeName(nodeId = '') {
      const { name } = await db.selectFrom('nodes').select('name').where('id', '=', nodeId).executeTakeFirstOrThrow()
      return name
    },
    async labelledNode(place, labels = {}) {
      const id = await tenancy.node(place)
      await db
        .insertInto('node_heartbeats')
        .values({ node_id: id, created_at: new Date(clock.nowMs), binary_version: null, binary_checksum: null })
        .execute()
      await label(place.domainId, `node:${id}`, labels)
      await change(async (made) => {
        const payload = { node_id: id, name: id, mesh_address: '100.64.0.1', public_key: 'k' }
        made.emit({ event: 'peer_registered', domainId: place.domainId, aggregate: `node:${id}`, payload })
        await holdPeers(made.db, place.domainId)
        await matchNewNodes(made, new Map([[place.domainId, [id]]]))
      })
      return id
    },
    async policy(domainId, members = {}) {
      policies += 1
      const body = { slug: `p-${policies}`, selector: '*', rules: [], ...members }
      const answer = await call(root, `POST /v1/domains/${domainId}/policies`, body)
      if (answer.status !== 201) throw new Error(`no policy: ${JSON.stringify(answer.body)}`)
      return { ...answer.body, id: String(answer.body['id']) }
    },
    async stateOf(nodeId) {
      const matches = await db
        .selectFrom('policy_matches')
        .innerJoin('policies', 'policies.id', 'policy_matches.policy_id')
        .select('slug')
        .where('node_id', '=', nodeId)
        .orderBy('slug')
        .execute()
      const node = await db
        .selectFrom('nodes')
        .select(['policy_groups', 'domain_id'])
        .where('id', '=', nodeId)
        .executeTakeFirstOrThrow()
      const groups = await db
        .selectFrom('policy_groups')
        .select(['number', 'selector'])
        .where('domain_id', '=', node.domain_id)
        .execute()
      const selectors = new Map(groups.map(({ number, selector }) => [number, selector]))
      return {
        policies: matches.map(({ slug }) => slug),
        groups: node.policy_groups.map((number) => selectors.get(number) ?? `unknown ${number}`).toSorted(),
      }
    },
  }
}
