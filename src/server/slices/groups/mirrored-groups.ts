import type { HeldCalls } from '../../ports/held-calls.ts'
import type { MirroredGroups, Mirroring } from '../../ports/mirrored-groups.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { managedPlaces } from '../../sql/managed-places.ts'
import { announceMember } from './announce.ts'
import { DIRECT_MEMBERS_MAX } from './group.ts'
import * as store from './store.ts'

export interface MirroredGroupsDeps {
  /** Whether an approval policy names the action for the Domain, or for the platform. */
  readonly isHeld: HeldCalls['isHeld']
}

/** Mirrors the group memberships that identity providers report, at each sign-in. */
export function createMirroredGroups({ isHeld }: MirroredGroupsDeps): MirroredGroups {
  return {
    async mirror(change, { userId, domainId, names }) {
      const named = new Set(names)
      const counts: Record<keyof Mirroring, number> = { added: 0, removed: 0, full: 0, held: 0 }
      for (const { group, membershipId } of await store.listMirrored(change.db, { userId, domainId, names })) {
        const isNamed = group.provider_group !== null && named.has(group.provider_group)
        if (isNamed === (membershipId !== null)) continue
        const came =
          membershipId === null
            ? await enter(change, group, { userId, isHeld })
            : await leave(change, group, { userId, membershipId })
        if (came !== undefined) counts[came] += 1
      }
      return counts
    },
  }
}

async function enter(
  change: Change,
  { domain_id: domainId, id }: store.GroupRecord,
  { userId, isHeld }: MirroredGroupsDeps & { readonly userId: string },
): Promise<keyof Mirroring | undefined> {
  // Read again under its lock: it may have been deleted.
  const group = await store.lockForMembers(change.db, { domainId, id })
  if (group === undefined) return undefined
  if ((await store.countMembers(change.db, id)) >= DIRECT_MEMBERS_MAX) return 'full'
  for (const { domainId: managed } of await managedPlaces(change.db, { type: 'group', id })) {
    if (await isHeld(change.db, 'access.admin', managed)) return 'held'
  }
  const subject = `user:${userId}`
  const tuple = { subject, relation: 'member', resource: `group:${id}` }
  if ((await change.tuples.create(tuple, { domainId, projectId: null })) === undefined) return undefined
  announceMember(change, group, { event: 'GroupMemberAdded', subject })
  return 'added'
}

async function leave(
  change: Change,
  group: store.GroupRecord,
  { userId, membershipId }: { readonly userId: string; readonly membershipId: string },
): Promise<keyof Mirroring | undefined> {
  if ((await change.tuples.delete(membershipId)) === undefined) return undefined
  announceMember(change, group, { event: 'GroupMemberRemoved', subject: `user:${userId}` })
  return 'removed'
}
