import type { Change } from '../../ports/unit-of-work.ts'
import type { GroupRecord } from './store.ts'

/** What happened to a group; `subject` is the member that came or went. */
export type GroupEvent =
  | { readonly event: 'GroupCreated' | 'GroupUpdated' | 'GroupDeleted' }
  | { readonly event: 'GroupMemberAdded' | 'GroupMemberRemoved'; readonly subject: string }

/** Says in the outbox what happened. */
export function announce(change: Change, group: GroupRecord, { event, ...names }: GroupEvent): void {
  const payload = { group_id: group.id, slug: group.slug, ...names }
  change.emit({ event, domainId: group.domain_id, aggregate: `group:${group.id}`, payload })
}
