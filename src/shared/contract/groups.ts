import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { heldFor } from './held-calls.ts'
import { nonEmptyPatch } from './patch.ts'
import {
  CreatedAt,
  DisplayName,
  InDomain,
  KiB,
  ManagedBy,
  OwnId,
  pageOf,
  pageQuery,
  Reference,
  ShownName,
  ShownSlug,
  Slug,
  uuidField,
} from './fields.ts'

const Group = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    slug: ShownSlug,
    display_name: ShownName,
    provider_group: z
      .string()
      .nullable()
      .optional()
      .describe('Group of the identity provider whose members it mirrors; null where people manage it'),
    created_at: CreatedAt,
  })
  .meta({ id: 'Group', description: 'A group of principals that holds roles together.' })

const GroupDetail = Group.extend({
  members: z
    .array(z.string())
    .describe('Direct members: user:<uuid>, serviceaccount:<uuid> or group:<uuid>#member, at most 1000'),
}).meta({ id: 'GroupDetail', description: 'A group with its direct members.' })

const GroupCreateRequest = z
  .strictObject({
    slug: Slug,
    display_name: DisplayName,
    provider_group: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Mirrors the members of this group of the identity provider, at every sign-in'),
    managed_by: ManagedBy,
  })
  .meta({ id: 'GroupCreateRequest', description: 'A new group.' })

const GroupPatchRequest = z
  .strictObject({ display_name: DisplayName.optional() })
  .meta({ id: 'GroupPatchRequest', description: 'Members of a group object to change.' })

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const params = ofDomain.extend({ group_id: uuidField('invalid_group_id', 'Group') })
const member = params.extend({
  subject: Reference.meta({ problem: 'invalid_triple' }).describe(
    'user:<uuid>, serviceaccount:<uuid> or group:<uuid>#member',
  ),
})
const columns = ['slug', 'display_name', 'created_at', 'id']
const wide = ['provider_group']
const refs = { id: 'domains', group_id: 'groups' }
const common = { credentials: OPERATOR, notProvisioned: 'not_provisioned' } as const

export const groups = defineSurface(
  'groups',
  {
    summary: 'Subjects that are granted roles together',
    nouns: { groups: { section: 'Access', position: 4, types: ['group'], files: 'managed' } },
  },
  {
    CreateGroup: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/groups',
      summary: 'Create a group in a Domain',
      description:
        'It has no members at first, or mirrors a group of the identity provider. The slug is unique in the Domain.',
      params: ofDomain,
      body: GroupCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'group.create', when: 'all' },
      responses: { 201: Group },
      headers: { Location: 'Path of the new group' },
      problems: ['domain_not_found', 'slug_conflict', 'provider_group_conflict'],
      cli: {
        command: 'groups create',
        args: ['slug'],
        refs: { id: 'domains' },
        columns,
        wide,
        handle: { member: 'slug', taken: 'slug_conflict' },
        done: 'Created group {slug} ({id}).',
      },
    },
    ListGroups: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/groups',
      summary: 'List the groups of a Domain',
      description: 'Without their members; ask for one group to see them.',
      params: ofDomain,
      query: z.strictObject(pageQuery),
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'group.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Group).meta({ id: 'GroupList', description: 'A page of groups.' }) },
      problems: [],
      cli: { command: 'groups list', refs: { id: 'domains' }, columns, wide },
    },
    GetGroup: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/groups/{group_id}',
      summary: 'Show a group and its direct members',
      description: 'Members of groups that are members themselves are not listed.',
      params,
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'group.read', when: 'all', object: 'group:{path.group_id}' },
      responses: { 200: GroupDetail },
      problems: ['group_not_found'],
      cli: { command: 'groups show', args: ['group_id'], refs, columns: [...columns, 'members'], wide },
    },
    PatchGroup: {
      ...common,
      method: 'PATCH',
      path: '/v1/domains/{id}/groups/{group_id}',
      summary: 'Rename a group',
      description: 'Changes the display name. The slug stays, and so do members and roles.',
      params,
      body: GroupPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'group.update', when: 'all', object: 'group:{path.group_id}' },
      responses: { 200: Group },
      problems: ['group_not_found'],
      cli: {
        command: 'groups update',
        args: ['group_id'],
        refs,
        columns,
        wide,
        done: 'Changed group {slug}.',
      },
    },
    DeleteGroup: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/groups/{group_id}',
      summary: 'Delete a group with its memberships and the roles granted to it',
      description: 'Its members lose the roles that they held through it.',
      params,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'group.delete', when: 'all', object: 'group:{path.group_id}' },
      responses: { 204: null },
      problems: ['group_not_found'],
      cli: { command: 'groups delete', args: ['group_id'], refs, confirm: 'yes', done: 'Deleted group {group_id}.' },
    },
    PutGroupMember: {
      ...common,
      method: 'PUT',
      path: '/v1/domains/{id}/groups/{group_id}/members/{subject}',
      summary: 'Add a member to a group',
      description: 'Adding an existing member changes nothing. A group that mirrors a provider group is refused.',
      params: member,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'group_member.add', when: 'all', object: 'group:{path.group_id}' },
      dualControl: heldFor('Add {path.subject} to group:{path.group_id} of domain:{path.id}', 'access.admin'),
      responses: { 204: null },
      problems: ['group_not_found', 'invalid_triple', 'group_full', 'group_managed_by_provider'],
      cli: {
        command: 'groups add-member',
        args: ['group_id', 'subject'],
        refs: { ...refs, subject: 'subjects' },
        done: '{subject} is a member of {group_id}.',
      },
    },
    DeleteGroupMember: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/groups/{group_id}/members/{subject}',
      summary: 'Remove a direct member from a group',
      description:
        'The subject loses the roles that it held through the group. The members of a mirrored group follow the identity provider.',
      params: member,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'group_member.remove', when: 'all', object: 'group:{path.group_id}' },
      responses: { 204: null },
      problems: ['group_not_found', 'invalid_triple', 'group_member_not_found', 'group_managed_by_provider'],
      cli: {
        command: 'groups remove-member',
        args: ['group_id', 'subject'],
        refs: { ...refs, subject: 'subjects' },
        done: '{subject} is no longer a member of the group.',
      },
    },
  },
)
