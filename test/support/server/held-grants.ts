import { sql, type KyselyPlugin } from 'kysely'
import pino from 'pino'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { TestStore } from '../datastores/stores.ts'
import { subjectOf } from './approvals.ts'
import type { Answer } from './control-plane.ts'
import { startTenancy, type Tenancy } from './tenancy.ts'

/** One held call, as the datastore has it. */
export interface HeldView {
  readonly state: string
  readonly outcome: string | null
  /** `<decision> <place of the person>`, sorted. */
  readonly decisions: readonly string[]
  /** Approvals that it needs. */
  readonly needed: number
  /** Whether its content is still kept. */
  readonly isKept: boolean
  /** Changes that were made under the approval, by the audit trail. */
  readonly runs: number
}

type HeldRow = Omit<HeldView, 'decisions'> & { readonly decisions: readonly (readonly [how: string, who: string])[] }

/** A server on which the runs of approved calls can be kept from beginning, as a crash between decision and run does. */
export interface HeldGrants extends Tenancy {
  /** While it is true no approved call is made, by whatever process. */
  isDown: boolean
  /** Runs the job that ends requests until it has found all: a pass skips those that somebody decides on meanwhile. */
  expire(): Promise<void>
  /** A new Domain with so many people who manage it, the first of whom requests. */
  ground(people: number): Promise<GrantGround>
}

/** A Domain in which one person requests that one other becomes a manager. */
export interface GrantGround {
  request(): Promise<Answer>
  /** Decides on the newest request; undefined where there is none. */
  decide(by: number, verb: 'approve' | 'reject' | 'withdraw'): Promise<Answer | undefined>
  /** How many approvals the policy asks for from now on; 0: none. It is written as it is, since to loosen it is a held call too. */
  policy(required: number): Promise<void>
  /** Gives the requester its role, or takes it away. */
  requesterManages(manages: boolean): Promise<void>
  /** Takes away what the requested grant gives. */
  ungrant(): Promise<void>
  /** Held calls, oldest first. */
  held(): Promise<readonly HeldView[]>
  isGranted(): Promise<boolean>
}

/** Starts it over a store. */
export async function startHeldGrants(store: TestStore): Promise<HeldGrants> {
  const outage = outageOfRuns()
  const log = pino({ level: 'silent' })
  const open = async () => outage.over(await store.open())
  const tenancy = await startTenancy({ ...store, open }, { surfaces: ['approvals'], log })
  return {
    ...tenancy,
    get isDown() {
      return outage.isDown
    },
    set isDown(isDown) {
      outage.isDown = isDown
    },
    async expire() {
      do await tenancy.runJob('approval-expiry')
      while ((await overdue(tenancy)) > 0)
    },
    ground: (people) => groundOf(tenancy, people),
  }
}

async function overdue({ db, clock }: Tenancy): Promise<number> {
  const { rows } = await sql`
    select id from approvals where state = 'pending-approval' and expires_at <= ${new Date(clock.nowMs)}`.execute(db)
  return rows.length
}

/** A datastore in which held calls cannot be read outside of a transaction while it is down: with that every run begins. */
function outageOfRuns() {
  const outage = {
    isDown: false,
    over<Given extends Datastore>(datastore: Given): Given {
      const plugin: KyselyPlugin = {
        transformQuery({ node }) {
          if (outage.isDown && JSON.stringify(node).includes('"held_calls"')) throw new Error('the process is gone')
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const interactive = datastore.pool('interactive').withPlugin(plugin)
      return {
        ...datastore,
        pool: (name) => (name === 'interactive' ? interactive : datastore.pool(name)),
        transaction: (pool, work) => datastore.transaction(pool, work),
      }
    },
  }
  return outage
}

async function groundOf(tenancy: Tenancy, count: number): Promise<GrantGround> {
  const { db, call, change, callers } = tenancy
  const domainId = await tenancy.domain()
  const resource = `domain:${domainId}`
  const place = { domainId, projectId: null }
  const people: string[] = []
  while (people.length < count) {
    const subject = await tenancy.holder(domainId, 'admin', resource)
    callers.add(subject, domainId, { presentedAs: `browser.${subject}` })
    people.push(`browser.${subject}`)
  }
  const subject = await tenancy.principal(domainId)
  const requester = people[0] ?? ''
  const personOf = (one: string) => people.map(subjectOf).indexOf(one)
  /** Removes the role of a subject, if it has it. */
  const remove = (of: string) =>
    change(async (tx) => {
      const { rows } = await sql<{ id: string }>`select id from relation_tuples where relation = 'admin'
        and concat(subject_type, ':', subject_id) = ${of} and concat(resource_type, ':', resource_id) = ${resource}`.execute(
        tx.db,
      )
      for (const { id } of rows) await tx.tuples.delete(id)
    })

  return {
    request: () => call(requester, `POST /v1/domains/${domainId}/grants`, { subject, relation: 'admin' }),
    async decide(by, verb) {
      const newest = await db
        .selectFrom('approvals')
        .select('id')
        .where('domain_id', '=', domainId)
        .orderBy('id', 'desc')
        .executeTakeFirst()
      if (newest === undefined) return undefined
      const body = { approve: {}, reject: { reason: 'Not now' }, withdraw: undefined }[verb]
      return call(people[by] ?? '', `POST /v1/approvals/${newest.id}/${verb}`, body)
    },
    async policy(required) {
      const actions = JSON.stringify(required === 0 ? {} : { 'access.admin': { required_approvals: required } })
      await sql`insert into approval_policies (domain_id, actions, updated_by, updated_at)
        values (${domainId}, ${actions}::jsonb, 'user:nobody', now())
        on conflict (domain_id) do update set actions = excluded.actions`.execute(db)
    },
    async requesterManages(manages) {
      const of = subjectOf(requester)
      if (!manages) return remove(of)
      await change(({ tuples }) => tuples.create({ subject: of, relation: 'admin', resource }, place))
    },
    ungrant: () => remove(subject),
    async held() {
      const { rows } = await sql<HeldRow>`
        select p.state, p.outcome, p.required_approvals as needed, coalesce(h.sealed is not null, false) as "isKept",
          (select coalesce(jsonb_agg(jsonb_build_array(d.decision, d.subject)), '[]') from approval_decisions as d
            where d.approval_id = p.id) as decisions,
          (select count(*)::int from audit as a where a.relation = 'domain_grant.create'
            and a.context ->> 'approval_id' = p.id::text) as runs
        from approvals as p left join held_calls as h on h.approval_id = p.id
        where p.domain_id = ${domainId} order by p.id`.execute(db)
      return rows.map((row) => ({
        ...row,
        decisions: row.decisions.map(([how, who]) => `${how} ${personOf(who)}`).toSorted(),
      }))
    },
    isGranted: async () => (await tenancy.tuplesOf(subject)).some((tuple) => tuple.endsWith(`admin ${resource}`)),
  }
}
