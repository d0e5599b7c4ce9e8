import type { Change } from '../../ports/unit-of-work.ts'
import type { GroupRecord } from './store.ts'

/** Appends a change of the group to the outbox. */
export function announce(
  change: Change,
  group: GroupRecord,
  event: 'GroupCreated' | 'GroupUpdated' | 'GroupDeleted',
): void {
  change.emit({ event, ...placeOf(group), payload: namesOf(group) })
}

/** Appends a change of the group's direct members to the outbox. */
export function announceMember(
  change: Change,
  group: GroupRecord,
  { event, subject }: { readonly event: 'GroupMemberAdded' | 'GroupMemberRemoved'; readonly subject: string },
): void {
  change.emit({ event, ...placeOf(group), payload: { ...namesOf(group), subject } })
}

function placeOf({ id, domain_id: domainId }: GroupRecord): { domainId: string; aggregate: string } {
  return { domainId, aggregate: `group:${id}` }
}

function namesOf({ id, slug }: GroupRecord): { group_id: string; slug: string } {
  return { group_id: id, slug }
}
