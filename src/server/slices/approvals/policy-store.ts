import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { ApprovalPolicyRow } from './tables.ts'

export type PolicyRecord = Selectable<ApprovalPolicyRow>

/** The policies that hold in a place. */
export interface Policies {
  /** Undefined where nobody set one, and for the platform. */
  readonly domain: PolicyRecord | undefined
  readonly platform: PolicyRecord | undefined
}

/** Lets one change write policies at a time, until its transaction ends: none may miss what another tightens. */
export async function lockPolicies(tx: Db): Promise<void> {
  await sql`lock table approval_policies in share row exclusive mode`.execute(tx)
}

/** Reads the policy of a Domain and that of the platform; `domainId` null: of the platform alone. */
export async function readPolicies(db: Db, domainId: string | null): Promise<Policies> {
  const rows = await db
    .selectFrom('approval_policies')
    .selectAll()
    .where((row) =>
      domainId === null
        ? row('domain_id', 'is', null)
        : row.or([row('domain_id', 'is', null), row('domain_id', '=', domainId)]),
    )
    .execute()
  return {
    domain: rows.find(({ domain_id: id }) => id !== null),
    platform: rows.find(({ domain_id: id }) => id === null),
  }
}

/** Writes the policy of a Domain, or with null that of the platform, in place of the one that it has. */
export async function writePolicy(tx: Db, { actions, ...policy }: PolicyRecord): Promise<void> {
  const { domain_id: _, ...values } = { ...policy, actions: JSON.stringify(actions) }
  await tx
    .insertInto('approval_policies')
    .values({ ...policy, actions: JSON.stringify(actions) })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(values))
    .execute()
}
