import { sql, type RawBuilder } from 'kysely'
import type { AssignmentState } from '../../../src/server/slices/lending/tables.ts'
import type { Db } from '../../../src/server/ports/datastore.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import type { TestStore } from '../datastores/stores.ts'
import type { Answer, ControlPlane, Making } from './control-plane.ts'
import { madeOver } from './control-plane.ts'
import { startTenancy, type Tenancy } from './tenancy.ts'

/** Which assignments: of Clouds, or of their credentials. */
export type Lent = 'cloud' | 'credential'

/** What a credential of a test is like; an active one that does not expire by default. */
export interface CredentialMembers {
  readonly state?: 'active' | 'suspended' | 'revoked'
  readonly expiresAt?: Date
  readonly secretVersion?: number
}

/** A control plane that lends Clouds and credentials, with people who request, decide and look on. */
export interface LendingPlane extends Tenancy {
  readonly domainId: string
  /** Decides on everything, with a browser session: an administrator of the platform. */
  readonly decider: string
  /** Adds a Cloud with packages of its own. */
  cloud(): Promise<string>
  credential(cloudId: string, members?: CredentialMembers): Promise<string>
  /** A Project, and who may deploy there. */
  projectWithDeployer(): Promise<{ readonly id: string; readonly deployer: string }>
  request(as: string, projectId: string, body: Readonly<Record<string, unknown>>): Promise<Answer>
  requestCloud(as: string, projectId: string, cloudId: string): Promise<Answer>
  /** Approves as the decider. */
  approve(approvalId: unknown): Promise<Answer>
  reject(approvalId: unknown): Promise<Answer>
  revoke(as: string, lent: Lent, id: unknown, body?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Requests and approves a Cloud for a Project; returns the id of the assignment. */
  lendCloud(of: { readonly id: string; readonly deployer: string }, cloudId: string): Promise<string>
  /** Requests and approves a credential for a Project; returns the id of the assignment. */
  lendCredential(of: { readonly id: string; readonly deployer: string }, credentialId: string): Promise<string>
  stateOf(lent: Lent, id: string): Promise<AssignmentState | undefined>
  /** What the rows of all assignments, their approvals and their tuples contradict each other in. */
  contradictions(): Promise<readonly string[]>
  /** States of the approvals of a Project, by id. */
  approvalStates(projectId: string): Promise<readonly string[]>
}

const SURFACES = [
  'clouds',
  'providerBundles',
  'cloudAssignments',
  'credentialAssignments',
  'cloudCredentials',
  'approvals',
  'approvalPolicies',
] as const

/** Starts the plane over a store, and over a real SpiceDB where one is given. */
export async function startLending(
  store: TestStore,
  more: Making = { surfaces: [] },
  server?: SpicedbServer,
): Promise<LendingPlane> {
  const tenancy = await startTenancy(
    store,
    (backend) => {
      const made = madeOver(backend, more)
      return { ...made, surfaces: [...SURFACES, ...made.surfaces] }
    },
    server,
  )
  const domainId = await tenancy.domain()
  const decider = `browser.${tenancy.root}`
  tenancy.callers.add(tenancy.root, tenancy.home, { presentedAs: decider })
  const calls = callsOf(tenancy, decider)
  return {
    ...tenancy,
    domainId,
    decider,
    ...rowsOf(tenancy),
    ...calls,
    async projectWithDeployer() {
      const id = await tenancy.project(domainId)
      return { id, deployer: await tenancy.holder(domainId, 'deployer', `project:${id}`) }
    },
    lendCloud: async ({ id, deployer }, cloudId) => approved(calls, await calls.requestCloud(deployer, id, cloudId)),
    lendCredential: async ({ id, deployer }, credentialId) =>
      approved(calls, await calls.request(deployer, id, { cloud_credential_id: credentialId })),
  }
}

type Calls = Pick<LendingPlane, 'request' | 'requestCloud' | 'approve' | 'reject' | 'revoke'>

function callsOf({ call }: ControlPlane, decider: string): Calls {
  return {
    request: (as, projectId, body) => call(as, `POST /v1/projects/${projectId}/credential-assignments`, body),
    requestCloud: (as, projectId, cloudId) =>
      call(as, `POST /v1/projects/${projectId}/cloud-assignments`, { cloud_id: cloudId }),
    approve: (id) => call(decider, `POST /v1/approvals/${String(id)}/approve`, {}),
    reject: (id) => call(decider, `POST /v1/approvals/${String(id)}/reject`, { reason: 'Not now' }),
    revoke: (as, lent, id, body = { reason: 'No longer needed' }) =>
      call(as, `POST /v1/${lent}-assignments/${String(id)}/revoke`, body),
  }
}

async function approved({ approve }: Calls, requested: Answer): Promise<string> {
  const { body } = requested
  const { status } = await approve(body['approval_id'])
  if (status !== 200) throw new Error(`${requested.status} ${JSON.stringify(body)}, then ${status}`)
  return String(body['id'])
}

function rowsOf({
  db,
  ids,
  clock,
  change,
  call,
  root,
}: Tenancy): Pick<LendingPlane, 'cloud' | 'credential' | 'stateOf' | 'contradictions' | 'approvalStates'> {
  const times = () => ({ created_at: new Date(clock.nowMs), updated_at: new Date(clock.nowMs) })
  const platform = { domainId: null, projectId: null }
  return {
    async cloud() {
      const { status, body } = await call(root, 'POST /v1/clouds', {
        slug: `c-${ids.next()}`,
        display_name: 'A Cloud',
        provider: 'hetzner',
        endpoint: { api_url: 'https://api.hetzner.example' },
        region_defaults: { location: 'fsn1' },
        provider_packages: [{ source: 'oci://r.example/hcloud', version: 'v1.4' }],
        provider_config_api_version: 'v1beta1',
      })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      return String(body['id'])
    },
    async credential(cloudId, { state = 'active', expiresAt, secretVersion = 1 } = {}) {
      const id = ids.next()
      await change(async (tx) => {
        await tx.db
          .insertInto('cloud_credentials')
          .values({
            id,
            cloud_id: cloudId,
            display_name: 'A credential',
            state,
            expires_at: expiresAt ?? null,
            secret_version: secretVersion,
            ...times(),
          })
          .execute()
        const edge = { subject: `cloud:${cloudId}`, relation: 'cloud', resource: `cloudcredential:${id}` }
        await tx.tuples.createStructural(edge, platform)
      })
      return id
    },
    async stateOf(lent, id) {
      const row = await db.selectFrom(`${lent}_assignments`).select('state').where('id', '=', id).executeTakeFirst()
      return row?.state
    },
    contradictions: () => contradictionsIn(db),
    async approvalStates(projectId) {
      const rows = await db
        .selectFrom('approvals')
        .select('state')
        .where('project_id', '=', projectId)
        .orderBy('id')
        .execute()
      return rows.map(({ state }) => state)
    },
  }
}

/** The parts of one kind of assignment. */
const KINDS = [
  { table: 'cloud_assignments', column: 'cloud_id', relation: 'consumer', type: 'cloud' },
  { table: 'credential_assignments', column: 'cloud_credential_id', relation: 'uses', type: 'cloudcredential' },
] as const

/** The states that an approval may have beside each state of its assignment. */
const DECIDED = {
  requested: ['pending-approval'],
  approved: ['approved'],
  revoked: ['approved'],
  rejected: ['rejected', 'withdrawn', 'expired'],
} as const

/** Reads what contradicts itself in a datastore: one sentence for each row at fault. */
export async function contradictionsIn(db: Db): Promise<readonly string[]> {
  const found: string[] = []
  for (const kind of KINDS) {
    for (const [what, query] of Object.entries(queriesOf(kind))) {
      const { rows } = await query.execute(db)
      found.push(...rows.map(({ id }) => `${kind.table} ${id}: ${what}`))
    }
  }
  const { rows } = await ORPHANS.execute(db)
  return [...found, ...rows.map(({ id }) => `credential_assignments ${id}: lent without its Cloud or its credential`)]
}

type Query = RawBuilder<{ readonly id: string }>

/** Credentials that are lent or requested although the Project may not use the Cloud, or they were revoked. */
const ORPHANS: Query = sql`
  select a.id from credential_assignments as a join cloud_credentials as c on c.id = a.cloud_credential_id
  where a.state in ('requested', 'approved') and (c.state = 'revoked' or not exists (
    select 1 from cloud_assignments as of_cloud
    where of_cloud.project_id = a.project_id and of_cloud.cloud_id = c.cloud_id and of_cloud.state = 'approved'))`

function queriesOf({ table, column, relation, type }: (typeof KINDS)[number]): Readonly<Record<string, Query>> {
  const [assignments, object] = [sql.table(table), sql.ref(`a.${column}`)]
  const isOf = sql`t.relation = ${relation} and t.resource_type = ${type} and t.resource_id = ${object}::text
    and t.subject_type = 'project' and t.subject_id = a.project_id::text`
  const matching = Object.entries(DECIDED).map(
    ([state, states]) => sql`(a.state = ${state} and p.state in (${sql.join(states)}))`,
  )
  return {
    'two are live': sql`select a.project_id::text as id from ${assignments} as a
      where a.state in ('requested', 'approved') group by a.project_id, ${object} having count(*) > 1`,
    'approved without its tuple': sql`select a.id from ${assignments} as a where a.state = 'approved'
      and not exists (select 1 from relation_tuples as t where ${isOf} and t.structural and t.state <> 'revoking')`,
    'its tuple without an approved one': sql`select t.id from relation_tuples as t
      where t.relation = ${relation} and t.resource_type = ${type} and t.state <> 'revoking'
      and not exists (select 1 from ${assignments} as a where ${isOf} and a.state = 'approved')`,
    'its approval says otherwise': sql`select a.id from ${assignments} as a
      where not exists (select 1 from approvals as p where p.id = a.approval_id and (${sql.join(matching, sql` or `)}))`,
    'a pending approval of nothing': sql`select p.id from approvals as p
      where p.state = 'pending-approval' and p.object like ${`${table.slice(0, -1)}:%`}
      and not exists (select 1 from ${assignments} as a where a.approval_id = p.id)`,
  }
}
