import { invalid, row, type Counts } from './row.ts'

/** Problems of Domains, Projects, resources and groups. */
export const TENANCY_PROBLEMS = {
  invalid_domain_id: invalid('Invalid Domain id', 'The Domain id must be a UUID other than zero.'),
  domain_not_found: row(404, 'Domain not found', 'No such Domain exists.'),
  domain_not_empty: row<{ readonly counts: Counts }>(
    409,
    'Domain not empty',
    'The Domain still holds objects; the counts name them.',
  ),
  invalid_project_id: invalid('Invalid Project id', 'The Project id must be a UUID other than zero.'),
  project_not_found: row(404, 'Project not found', 'No such Project exists.'),
  project_not_empty: row<{ readonly counts: Counts }>(
    409,
    'Project not empty',
    'The Project still holds objects; the counts name them.',
  ),
  invalid_resource_id: invalid('Invalid resource id', 'The resource id must be a UUID other than zero.'),
  resource_not_found: row(404, 'Resource not found', 'No such resource exists in this Project.'),
  host_node_not_in_domain: invalid('Host node elsewhere', 'A host node does not exist in the Domain of the resource.'),
  slug_conflict: row(409, 'Slug taken', 'Another object in the same place has this slug.'),
  empty_patch: invalid('Empty patch', 'The patch names no member to change.'),
  invalid_group_id: invalid('Invalid group id', 'The group id must be a UUID other than zero.'),
  group_not_found: row(404, 'Group not found', 'No such group exists in this Domain.'),
  provider_group_conflict: row(
    409,
    'Provider group taken',
    'Another group of the Domain mirrors this group of the identity provider.',
  ),
  group_managed_by_provider: row(
    409,
    'Managed by the provider',
    'The group mirrors one of the identity provider; its members change there.',
  ),
  group_full: row(409, 'Group full', 'The group has as many direct members as are allowed.'),
  last_platform_admin: row(409, 'Last platform administrator', 'The platform would be left without an administrator.'),
  group_member_not_found: row(404, 'Member not found', 'The subject is not a direct member of the group.'),
} as const
