import { parseTupleReference } from '../../../shared/authz/reference.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import { IMPACT_CHANGES_MAX } from '../../../shared/contract/authz-schemas.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { Change, StoredTuple } from '../../ports/unit-of-work.ts'

/** The Domain or platform on which a subject would gain `manage`. */
export interface ManagerGain {
  readonly subject: string
  /** `domain:<id>` or `platform:main`. */
  readonly object: string
}

/** A change that is not committed yet, with the roles and memberships that it wrote. */
export interface WrittenTuples {
  readonly change: Change
  readonly written: readonly StoredTuple[]
}

/** Types of objects whose tuples can make somebody a manager of a Domain or of the platform. */
const WAYS = new Set(['platform', 'domain', 'group'])

/** The tuples that can make somebody a manager of a Domain or of the platform. Roles on all other objects cannot. */
export function waysToManage(written: readonly StoredTuple[]): readonly StoredTuple[] {
  return written.filter(({ resource }) => WAYS.has(resource.slice(0, resource.indexOf(':'))))
}

/**
 * Finds who would gain `manage` on a Domain or on the platform by the tuples, through any group or role, by trying them on
 * the authorization index. A gain that cannot be excluded counts: of a change that is too large to be judged, the first
 * tuple is the answer.
 */
export async function managerGains(
  insight: AuthzInsight,
  { change: { db, tuples }, written }: WrittenTuples,
  nowMs: number,
): Promise<readonly ManagerGain[]> {
  const ways = waysToManage(written)
  const [first] = ways
  if (first === undefined) return []
  // Two changes at once, such as a membership and a role of the group, could each gain nothing alone.
  await tuples.settle()
  // Tried without caveats: what one refuses now it may admit later.
  const edits = ways.map((tuple) => ({ op: 'create' as const, tuple: { ...columnsOf(tuple), caveat_name: '' } }))
  const within = { db, written: written.map(columnsOf) }
  const impact = await insight.impact({ edits, facts: { nowMs }, changesMax: IMPACT_CHANGES_MAX, within })
  const gains = impact.changes
    .filter(
      ({ change, permission, resource }) =>
        change === 'gains' && permission === 'manage' && /^(?:domain|platform):/.test(resource),
    )
    .map(({ subject, resource }) => ({ subject, object: resource }))
  const isJudged = impact.isComplete && impact.count <= impact.changes.length
  return gains.length > 0 || isJudged ? gains : [{ subject: first.subject, object: placeOf(first) }]
}

function placeOf({ domainId }: StoredTuple): string {
  return domainId === null ? 'platform:main' : `domain:${domainId}`
}

function columnsOf({ subject: by, resource: on, relation, caveatName, domainId }: StoredTuple): TupleColumns {
  const subject = parseTupleReference(by)
  const resource = parseTupleReference(on)
  if (subject === undefined || resource === undefined) throw new Error('a stored tuple has a malformed reference')
  return {
    subject_type: subject.type,
    subject_id: subject.id,
    subject_relation: subject.relation,
    relation,
    resource_type: resource.type,
    resource_id: resource.id,
    caveat_name: caveatName ?? '',
    domain_id: domainId,
  }
}
