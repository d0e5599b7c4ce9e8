import { parseTupleReference } from '../../../shared/authz/reference.ts'
import type { TupleEdit } from '../../../shared/authz/impact.ts'
import { IMPACT_CHANGES_MAX } from '../../../shared/contract/authz-schemas.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { StoredTuple } from '../../ports/unit-of-work.ts'

/** The Domain or platform on which a subject would gain `manage`. */
export interface ManagerGain {
  readonly subject: string
  /** `domain:<id>` or `platform:main`. */
  readonly object: string
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
  written: readonly StoredTuple[],
  nowMs: number,
): Promise<readonly ManagerGain[]> {
  const ways = waysToManage(written)
  const [first] = ways
  if (first === undefined) return []
  const impact = await insight.impact({ edits: ways.map(editOf), facts: { nowMs }, changesMax: IMPACT_CHANGES_MAX })
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

function editOf(tuple: StoredTuple): TupleEdit {
  const subject = parseTupleReference(tuple.subject)
  const resource = parseTupleReference(tuple.resource)
  if (subject === undefined || resource === undefined) throw new Error('a stored tuple has a malformed reference')
  return {
    op: 'create',
    tuple: {
      subject_type: subject.type,
      subject_id: subject.id,
      subject_relation: subject.relation,
      relation: tuple.relation,
      resource_type: resource.type,
      resource_id: resource.id,
      // Tried without its caveat: that may hold later, although it does not now.
      caveat_name: '',
      domain_id: tuple.domainId,
    },
  }
}
