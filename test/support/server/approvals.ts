import { sql } from 'kysely'
import { expect } from 'vitest'
import { createApprovalQueue } from '../../../src/server/slices/approvals/queue.ts'
import { collectApprovalKinds } from '../../../src/server/composition/approval-kinds.ts'
import type { ApprovalKind } from '../../../src/server/ports/approval-kind.ts'
import type { ApprovalRequest } from '../../../src/server/ports/approval-queue.ts'
import type { Problem } from '../../../src/shared/problems.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'
import { createApprovalExpiry } from '../../../src/server/slices/approvals/expiry.ts'
import type { Answer } from './control-plane.ts'
import { START_MS } from './test-backend.ts'
import { startTenancy, type Tenancy } from './tenancy.ts'

/** What became of a thing: its state, and how often its approval was carried out. */
export interface ThingState {
  readonly state: string
  readonly carried: number
}

/** A control plane with the approvals queue, things that need an approval, and people who decide. */
export interface ApprovalsPlane extends Tenancy {
  /** The Domain of the requests. */
  readonly domainId: string
  /** Who requests: a user of the Domain who may do nothing, by a token that an administrator issued. */
  readonly requester: string
  /** What the kind answers an approval with; undefined: it carries it out. */
  refusal: Problem | undefined
  /** Adds a user with a browser session; resolves with what presents it. `relation` is held on the Domain. */
  person(relation?: string): Promise<string>
  /** Adds a thing and requests its approval, which needs `manage` on the Domain. Resolves with the approval's id. */
  request(over?: Partial<ApprovalRequest>): Promise<string>
  thing(approvalId: string): Promise<ThingState>
  approve(as: string, id: string, body?: object): Promise<Answer>
  reject(as: string, id: string, reason?: string): Promise<Answer>
  withdraw(as: string, id: string): Promise<Answer>
  /** Runs one pass of the job that expires approvals. */
  expire(): Promise<boolean>
}

/** The subject of somebody who is presented by a browser session. */
export const subjectOf = (presented: string): string => presented.replace(/^browser\./, '')

/** The status of an answer and its code, where it has one. */
export const codeOf = ({ status, body }: Answer): readonly unknown[] =>
  body['code'] === undefined ? [status] : [status, body['code']]

/** The kind of the tests: a row of `things` for each request, changed in the deciding transaction. */
function thingKind(plane: { readonly refusal: () => Problem | undefined }): ApprovalKind {
  return {
    kind: 'thing',
    async approve({ db }, { object }) {
      await sql`update things set state = 'approved', carried = carried + 1 where object = ${object}`.execute(db)
      const refusal = plane.refusal()
      if (refusal !== undefined) throw refusal
    },
    async end({ db }, { object }, how) {
      await sql`update things set state = ${how}, carried = carried + 100 where object = ${object}`.execute(db)
    },
  }
}

/** Starts the plane over a store. */
export async function startApprovals(store: TestStore, server?: SpicedbServer): Promise<ApprovalsPlane> {
  let refusal: Problem | undefined
  const kind = thingKind({ refusal: () => refusal })
  const surfaces = ['approvals', 'approvalPolicies', 'tokens', 'adminTokens', 'localAccounts'] as const
  const tenancy = await startTenancy(store, { surfaces, approvalKinds: [kind] }, server)
  const { db, change, callers, clock } = tenancy
  await sql`create table if not exists things (object text primary key, state text, carried integer)`.execute(db)
  const queue = createApprovalQueue(tenancy)
  const kinds = collectApprovalKinds()
  kinds.add([kind])
  const domainId = await tenancy.domain()
  const requester = await tenancy.principal(domainId)
  const post = (as: string, id: string, verb: string, body: object | undefined) =>
    tenancy.call(as, `POST /v1/approvals/${id}/${verb}`, body)
  return {
    ...tenancy,
    domainId,
    requester,
    get refusal() {
      return refusal
    },
    set refusal(next) {
      refusal = next
    },
    async person(relation) {
      const subject = await (relation === undefined
        ? tenancy.principal(domainId)
        : tenancy.holder(domainId, relation, `domain:${domainId}`))
      const presentedAs = `browser.${subject}`
      callers.add(subject, domainId, { presentedAs })
      return presentedAs
    },
    request: (over = {}) =>
      change(async (tx) => {
        const object = over.object ?? `thing:${tenancy.ids.next()}`
        await sql`insert into things values (${object}, 'requested', 0)`.execute(tx.db)
        const { id } = await queue.request(tx, {
          kind: 'thing',
          object,
          action: 'credentials.lend',
          operation: 'RequestThing',
          summary: 'Lend a thing to a Project',
          domainId,
          projectId: null,
          requestedBy: requester,
          decide: { relation: 'manage', object: `domain:${domainId}` },
          nowMs: clock.nowMs,
          ...over,
        })
        return id
      }),
    async thing(approvalId) {
      const { rows } = await sql<ThingState>`
        select things.state, things.carried from things join approvals using (object) where approvals.id = ${approvalId}`.execute(
        db,
      )
      const [row] = rows
      if (row === undefined) throw new Error(`the approval ${approvalId} has no thing`)
      return row
    },
    approve: (as, id, body = {}) => post(as, id, 'approve', body),
    reject: (as, id, reason = 'Not now') => post(as, id, 'reject', { reason }),
    withdraw: (as, id) => post(as, id, 'withdraw', undefined),
    expire: () => createApprovalExpiry({ approvalKinds: kinds, clock, ids: tenancy.ids }).run(unfenced(tenancy)),
  }
}

/** Expects that nothing came of an approval: it waits, and its thing is as it was requested. */
export async function expectPending(plane: ApprovalsPlane, id: string): Promise<void> {
  expect(await plane.thing(id)).toEqual({ state: 'requested', carried: 0 })
  expect((await plane.call(plane.requester, `GET /v1/approvals/${id}`)).body['state']).toBe('pending-approval')
}

/** Adds the local account of a user. */
export async function addAccount({ db, ids, domainId }: ApprovalsPlane, subject: string): Promise<void> {
  const at = new Date(START_MS)
  await db
    .insertInto('local_accounts')
    .values({
      id: ids.next(),
      login: subject,
      display_name: 'Cara',
      email: null,
      domain_id: domainId,
      principal_id: subject.slice('user:'.length),
      password_hash: '',
      must_change_password: false,
      totp_sealed: null,
      totp_last_step: null,
      locked_until: null,
      disabled_at: null,
      last_sign_in_at: null,
      created_at: at,
      updated_at: at,
    })
    .execute()
}
