import type { groups } from '../../../shared/contract/groups.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { GroupRecord, Membership } from './store.ts'

type Operations = (typeof groups)['operations']
type GroupAnswer = Result<Operations['CreateGroup']>
type GroupDetailAnswer = Result<Operations['GetGroup']>

/** How many subjects may be direct members of one group. */
export const DIRECT_MEMBERS_MAX = 1000

/** The row as the API shows it. */
export function toAnswer(group: GroupRecord): GroupAnswer {
  return {
    id: group.id,
    domain_id: group.domain_id,
    slug: group.slug,
    display_name: group.display_name,
    provider_group: group.provider_group,
    created_at: group.created_at.toISOString(),
  }
}

/** The row with its direct members; a subject with several memberships shows once. */
export function toDetail(group: GroupRecord, members: readonly Membership[]): GroupDetailAnswer {
  return { ...toAnswer(group), members: [...new Set(members.map(formatMember))] }
}

function formatMember({ subject_type: type, subject_id: id, subject_relation: relation }: Membership): string {
  return relation === '' ? `${type}:${id}` : `${type}:${id}#${relation}`
}
