import { sql } from 'kysely'
import { addDomain } from '../../../src/server/slices/domains/add-domain.ts'
import { newDomain } from '../../../src/server/slices/domains/domain.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import {
  madeOver,
  startControlPlane,
  startReplicaOf,
  type ControlPlane,
  type Making,
  type UnderTest,
} from './control-plane.ts'
import { START_MS } from './test-backend.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import type { TestStore } from '../datastores/stores.ts'

/** A control plane with the tenancy surfaces, a platform administrator and words to arrange and to look with. */
export interface Tenancy extends ControlPlane {
  /** A user who holds `admin` on the platform by name. */
  readonly root: string
  /** The Domain that the administrator belongs to. */
  readonly home: string
  /** Creates a Domain through the API and returns its id. */
  domain(slug?: string): Promise<string>
  project(domainId: string, slug?: string): Promise<string>
  group(domainId: string, slug?: string): Promise<string>
  /** Adds a principal, known as a caller, and returns its subject. */
  principal(domainId: string, kind?: 'user' | 'service-identity'): Promise<string>
  /** A principal of the Domain who holds the role. */
  holder(domainId: string, relation: string, resource: string): Promise<string>
  node(place: { domainId: string; projectId?: string }): Promise<string>
  joinToken(place: { domainId: string; projectId?: string }, members?: JoinTokenMembers): Promise<string>
  /** An API token of a principal of the Domain; it works for an hour unless the members say otherwise. */
  apiToken(domainId: string, owner: string, members?: ApiTokenMembers): Promise<string>
  /** Every tuple with the object on either side, as `subject relation resource`, sorted. */
  tuplesOf(reference: string): Promise<string[]>
  /** Outbox rows of an answer's request, oldest first. */
  outbox(of: { headers: Headers }): Promise<OutboxView[]>
  /** The audit row of an answer's request, whether it rode in a change or not. */
  audit(of: { headers: Headers }): Promise<AuditView | undefined>
}

interface JoinTokenMembers {
  readonly revoked?: true
  readonly spent?: true
  readonly expired?: true
}

interface ApiTokenMembers {
  readonly revoked?: true
  readonly expired?: true
  readonly hidden?: true
  /** Replaced by another one, within its time of grace. */
  readonly rotated?: true
}

interface OutboxView {
  readonly event: string
  readonly domain_id: string | null
  readonly aggregate: string
  readonly payload: unknown
}

interface AuditView {
  readonly relation: string
  readonly object: string
  readonly outcome: string
  readonly reason: string
  readonly domainId: string | null
}

/** `more` adds surfaces, and what they need of the test. */
export async function startTenancy(
  store: TestStore,
  more: Making = { surfaces: [] },
  server?: SpicedbServer,
): Promise<Tenancy> {
  const make = (backend: Backend): UnderTest => {
    const made = madeOver(backend, more)
    return { ...made, surfaces: [...TENANCY, ...made.surfaces] }
  }
  const plane = await startControlPlane(await store.open(), make, server)
  const home = plane.ids.next()
  const own = newDomain(home, { slug: 'home', display_name: 'Home' }, new Date(START_MS))
  await plane.change((change) => addDomain(change, own))
  const arranged = arrange(plane)
  const root = await arranged.principal(home)
  await plane.change(({ tuples }) =>
    tuples.create({ subject: root, relation: 'admin', resource: 'platform:main' }, { domainId: null, projectId: null }),
  )
  const create = async (operation: string, body: unknown): Promise<string> => {
    const answer = await plane.call(root, operation, body)
    if (answer.status !== 201) throw new Error(`${operation}: ${JSON.stringify(answer.body)}`)
    return String(answer.body['id'])
  }
  const slugOf = (slug: string | undefined) => slug ?? `s-${plane.ids.next()}`
  return {
    ...plane,
    ...arranged,
    ...lookAt(plane),
    root,
    home,
    domain: (slug) => create('POST /v1/domains', { slug: slugOf(slug), display_name: 'A Domain' }),
    project: (domainId, slug) =>
      create(`POST /v1/domains/${domainId}/projects`, { slug: slugOf(slug), display_name: 'A Project' }),
    group: (domainId, slug) =>
      create(`POST /v1/domains/${domainId}/groups`, { slug: slugOf(slug), display_name: 'A group' }),
  }
}

/** Another replica over the datastore of the first, with the tenancy surfaces alone. Stop it before the first. */
export function startReplica(first: Tenancy): Promise<ControlPlane> {
  return startReplicaOf(first, { surfaces: TENANCY })
}

const TENANCY = ['domains', 'projects', 'resources', 'grants', 'groups'] as const

type Arranging = 'principal' | 'holder' | 'node' | 'joinToken' | 'apiToken'

/** Rows of the slices that are not under test. */
function arrange({ db, ids, callers, change }: ControlPlane): Pick<Tenancy, Arranging> {
  const at = new Date(START_MS)
  let nodes = 0

  async function principal(domainId: string, kind: 'user' | 'service-identity' = 'user'): Promise<string> {
    const id = ids.next()
    const subject = `${kind === 'user' ? 'user' : 'serviceaccount'}:${id}`
    await db
      .insertInto('principals')
      .values({
        id,
        domain_id: domainId,
        kind,
        display_name: subject,
        subject_sealed: Buffer.from(id),
        subject_pseudonym: id.replaceAll('-', '').padEnd(64, '0'),
        email: null,
        jwks: null,
        spiffe_id: null,
        last_sign_in_at: null,
        created_at: at,
        updated_at: at,
      })
      .execute()
    await change(({ tuples }) =>
      tuples.createStructural(
        { subject: `domain:${domainId}`, relation: 'domain', resource: subject },
        { domainId, projectId: null },
      ),
    )
    callers.add(subject, domainId)
    return subject
  }

  return {
    principal,
    async holder(domainId, relation, resource) {
      const subject = await principal(domainId)
      await change(({ tuples }) => tuples.create({ subject, relation, resource }, { domainId, projectId: null }))
      return subject
    },
    async node({ domainId, projectId }) {
      const id = ids.next()
      nodes += 1
      await db
        .insertInto('nodes')
        .values({
          id,
          domain_id: domainId,
          project_id: projectId ?? null,
          name: `node-${nodes}`,
          kind: 'server',
          public_key: Buffer.from(id.replaceAll('-', '').padEnd(64, '0'), 'hex'),
          mesh_address: `100.64.${Math.floor(nodes / 256)}.${nodes % 256}`,
          psk_sealed: Buffer.alloc(60),
          psk_issued_at: '0',
          labels: '{}',
          ephemeral: false,
          created_at: at,
          updated_at: at,
        })
        .execute()
      return id
    },
    async joinToken({ domainId, projectId }, { revoked, spent, expired } = {}) {
      const id = ids.next()
      await db
        .insertInto('join_tokens')
        .values({
          id,
          domain_id: domainId,
          project_id: projectId ?? null,
          node_id: null,
          prefix: 'jtk',
          fingerprint: Buffer.from(id.replaceAll('-', ''), 'hex'),
          fingerprint_key_id: 'k',
          labels: '{}',
          ephemeral: false,
          max_uses: 1,
          uses: spent === true ? 1 : 0,
          created_by: 'user:nobody',
          created_at: at,
          expires_at: new Date(START_MS + (expired === true ? 0 : 3_600_000)),
          revoked_at: revoked === true ? at : null,
        })
        .execute()
      return id
    },
    async apiToken(domainId, owner, { revoked, expired, hidden, rotated } = {}) {
      const id = ids.next()
      const [type, ownerId = ''] = owner.split(':')
      await db
        .insertInto('api_tokens')
        .values({
          id,
          domain_id: domainId,
          owner_id: ownerId,
          owner_kind: type === 'user' ? 'user' : 'service-identity',
          name: 'arranged',
          prefix: 'psk',
          fingerprint: Buffer.from(id.replaceAll('-', ''), 'hex'),
          fingerprint_key_id: 'k',
          scopes: '["*"]',
          lifetime_seconds: 3600,
          created_at: at,
          expires_at: new Date(START_MS + (expired === true ? 0 : 3_600_000)),
          last_used_at: null,
          revoked_at: revoked === true ? at : null,
          rotated_to: rotated === true ? ids.next() : null,
          hidden: hidden === true,
        })
        .execute()
      return id
    },
  }
}

function lookAt({ db, audited }: ControlPlane): Pick<Tenancy, 'tuplesOf' | 'outbox' | 'audit'> {
  const correlationOf = ({ headers }: { headers: Headers }) => headers.get('x-correlation-id') ?? ''
  return {
    async tuplesOf(reference) {
      const { rows } = await sql<{ tuple: string }>`
        select concat(
          subject_type, ':', subject_id, case when subject_relation = '' then '' else '#' || subject_relation end,
          ' ', relation, ' ', resource_type, ':', resource_id
        ) as tuple
        from relation_tuples
        where ${reference} in (concat(subject_type, ':', subject_id), concat(resource_type, ':', resource_id))
      `.execute(db)
      return rows.map(({ tuple }) => tuple).toSorted()
    },
    outbox: (of) =>
      db
        .selectFrom('outbox')
        .select(['event', 'domain_id', 'aggregate', 'payload'])
        .where('correlation_id', '=', correlationOf(of))
        .orderBy('id')
        .execute(),
    async audit(of) {
      const columns = ['relation', 'object', 'outcome', 'reason', 'domain_id as domainId'] as const
      const inChange = await db
        .selectFrom('audit')
        .select(columns)
        .where('correlation_id', '=', correlationOf(of))
        .executeTakeFirst()
      if (inChange !== undefined) return inChange
      const entry = audited.find(({ correlationId }) => correlationId === correlationOf(of))
      if (entry === undefined) return undefined
      const { relation, object, outcome, reason, domainId } = entry
      return { relation, object, outcome, reason, domainId }
    },
  }
}
