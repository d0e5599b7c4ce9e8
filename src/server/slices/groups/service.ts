import type { groups } from '../../../shared/contract/groups.ts'
import { problem } from '../../../shared/problems.ts'
import {
  foreignSubject,
  formatRoleSubject,
  requireRoleSubject,
  type RoleSubject,
} from '../../../shared/role-subjects.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { SubjectDirectory } from '../../ports/subject-directory.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { markOfSet } from '../../labels/managed-by.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { bySlug } from '../../sql/keyset.ts'
import { announce, announceMember } from './announce.ts'
import { DIRECT_MEMBERS_MAX, toAnswer, toDetail } from './group.ts'
import * as store from './store.ts'

export interface GroupsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly subjects: SubjectDirectory
}

/** Serves the groups of a Domain and their direct members. Groups are listed by slug, members oldest first. */
export function createGroups({ datastore, ids, subjects }: GroupsDeps): Handlers<typeof groups> {
  const db = () => datastore.pool('interactive')
  return {
    async CreateGroup(ctx, { id: domainId, body }) {
      const { slug, display_name, provider_group = null, managed_by } = body
      const mark = await markOfSet(ctx, db(), managed_by)
      const created_at = new Date(ctx.nowMs)
      const group = { id: ids.next(), domain_id: domainId, slug, display_name, provider_group, created_at }
      await ctx.change(async (change) => {
        await addGroup(change, group)
        await mark(change, { kind: 'group', id: group.id })
        ctx.about(`group:${group.id}`, domainId)
      })
      ctx.header('Location', `/v1/domains/${domainId}/groups/${group.id}`)
      return toAnswer(group)
    },

    ListGroups: (ctx, { id: domainId }) =>
      listPage(ctx, (range) => store.listGroups(db(), domainId, range), { positionOf: bySlug.positionOf, toAnswer }),

    async GetGroup(_ctx, { id: domainId, group_id: id }) {
      const group = await store.findGroup(db(), { domainId, id })
      if (group === undefined) throw problem('group_not_found')
      return toDetail(group, await store.listMembers(db(), id))
    },

    async PatchGroup(ctx, { id: domainId, group_id: id, body: { display_name: name } }) {
      const renamed = await ctx.change(async (change) => {
        const group = await store.renameGroup(change.db, { domainId, id }, name)
        if (group === undefined) throw problem('group_not_found')
        announce(change, group, 'GroupUpdated')
        return group
      })
      return toAnswer(renamed)
    },

    async DeleteGroup(ctx, { id: domainId, group_id: id }) {
      await ctx.change(async (change) => {
        const group = await store.lockForDelete(change.db, { domainId, id })
        if (group === undefined) throw problem('group_not_found')
        await store.deleteGroup(change.db, id)
        await change.tuples.deleteObject(`group:${id}`)
        announce(change, group, 'GroupDeleted')
      })
    },

    async PutGroupMember(ctx, { id: domainId, group_id: id, subject: text }) {
      const subject = requireRoleSubject(text)
      await ctx.change(async (change) => {
        const group = await lockManaged(change, { domainId, id })
        if (!(await subjects.mayBind(change.db, subject, domainId))) {
          throw foreignSubject()
        }
        await addMember(change, group, subject)
      })
    },

    async DeleteGroupMember(ctx, { id: domainId, group_id: id, subject: text }) {
      const subject = requireRoleSubject(text)
      await ctx.change(async (change) => {
        await removeMember(change, await lockManaged(change, { domainId, id }), subject)
      })
    },
  }
}

async function addGroup(change: Change, group: store.GroupRecord): Promise<void> {
  if (!(await holdDomain(change.db, group.domain_id))) throw problem('domain_not_found')
  await store.insertGroup(change.db, group)
  await change.tuples.createStructural(
    { subject: `domain:${group.domain_id}`, relation: 'domain', resource: `group:${group.id}` },
    { domainId: group.domain_id, projectId: null },
  )
  announce(change, group, 'GroupCreated')
}

/** Locks a group whose members people manage. @throws Problem `group_not_found`, `group_managed_by_provider` */
async function lockManaged({ db }: Change, place: store.GroupPlace): Promise<store.GroupRecord> {
  const group = await store.lockForMembers(db, place)
  if (group === undefined) throw problem('group_not_found')
  if (group.provider_group !== null) throw problem('group_managed_by_provider')
  return group
}

/** Adding an existing member changes and announces nothing, also in a full group. */
async function addMember(change: Change, group: store.GroupRecord, subject: RoleSubject): Promise<void> {
  const member = formatRoleSubject(subject)
  const tuple = { subject: member, relation: 'member', resource: `group:${group.id}` }
  if ((await change.tuples.create(tuple, { domainId: group.domain_id, projectId: null })) === undefined) return
  if ((await store.countMembers(change.db, group.id)) > DIRECT_MEMBERS_MAX) throw problem('group_full')
  announceMember(change, group, { event: 'GroupMemberAdded', subject: member })
}

async function removeMember(change: Change, group: store.GroupRecord, subject: RoleSubject): Promise<void> {
  let removed = 0
  for (const { id } of await store.findMemberships(change.db, group.id, subject)) {
    if ((await change.tuples.delete(id)) !== undefined) removed += 1
  }
  if (removed === 0) throw problem('group_member_not_found')
  announceMember(change, group, { event: 'GroupMemberRemoved', subject: formatRoleSubject(subject) })
}
