import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { heldFor } from './held-calls.ts'
import { CreatedAt, KiB, OwnId, pageOf, pageQuery, Reference, uuidField } from './fields.ts'

/** A role held on a Domain, on a node that is in no Project, or on the platform: a relation tuple, under its own id. */
export const Grant = z
  .object({
    id: OwnId,
    subject: z.string().describe('Who holds the role'),
    relation: z.string().describe('The role'),
    resource: z.string().describe('What the role is held on, `<type>:<id>`'),
    created_at: CreatedAt,
  })
  .meta({ id: 'Grant', description: 'A role on a Domain, on a node that is in no Project, or on the platform.' })

const grant = {
  subject: Reference.meta({ problem: 'invalid_triple' }).describe(
    'user:<uuid>, serviceaccount:<uuid> or group:<uuid>#member',
  ),
  relation: z
    .string()
    .min(1)
    .max(64)
    .meta({ problem: 'invalid_triple' })
    .describe('Role: admin, operator, auditor or viewer; on a node viewer, agent or operator'),
}

/** What the tuple API cannot express: its objects are in Projects. */
const NodeReference = Reference.meta({ problem: 'invalid_triple' })

const GrantCreateRequest = z
  .strictObject(grant)
  .meta({ id: 'GrantCreateRequest', description: 'A role on the platform.' })
const DomainGrantCreateRequest = z
  .strictObject({
    ...grant,
    resource: NodeReference.optional().describe(
      'node:<uuid>, a node of the Domain that is in no Project; the Domain itself when absent',
    ),
  })
  .meta({ id: 'DomainGrantCreateRequest', description: 'A role on a Domain or on a node of it.' })

const GrantList = pageOf(Grant).meta({ id: 'GrantList', description: 'A page of grants.' })
const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const tuple = { tuple_id: uuidField('invalid_tuple_id', 'Grant') }
const columns = ['subject', 'relation', 'resource', 'created_at', 'id']
const paging = { limit: 'rejected', cursor: 'operation' } as const

const common = { credentials: OPERATOR, notProvisioned: 'authz_not_provisioned' } as const

export const grants = defineSurface(
  'grants',
  {
    summary: 'Roles on Domains and on the platform',
    nouns: { grants: { section: 'Access', position: 5, files: 'managed' } },
  },
  {
    CreateDomainGrant: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/grants',
      summary: 'Grant a role on a Domain, or on a node of it that is in no Project',
      description:
        'The role counts for everything in the Domain or, with `resource`, for one node. A subject holds a role at most once.',
      params: ofDomain,
      body: DomainGrantCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'domain_grant.create', when: 'all' },
      dualControl: heldFor('Make {body.subject} {body.relation} of domain:{path.id}', 'access.admin'),
      responses: { 201: Grant },
      headers: { Location: 'Path of the new grant' },
      problems: ['domain_not_found', 'invalid_triple', 'tuple_already_exists', 'group_managed_by_provider'],
      cli: {
        command: 'grants create',
        summary: 'Grant a role on the platform, a Domain, a Project, a node or a resource',
        args: ['subject', 'relation'],
        refs: { id: 'domains', subject: 'subjects' },
        columns,
        done: 'Granted {relation} on {resource} to {subject}.',
      },
    },
    ListDomainGrants: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/grants',
      summary: 'List the roles held on a Domain, or on a node of it that is in no Project',
      description: 'Roles on Projects and on their objects are not among them: they are relation tuples.',
      params: ofDomain,
      query: z.strictObject({
        resource: NodeReference.optional().describe(
          'node:<uuid>: the roles on this node of the Domain, which is in no Project; those on the Domain when absent',
        ),
        ...pageQuery,
      }),
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'domain_grant.list', when: 'all' },
      paging: { ...paging, parents: ['resource'] },
      responses: { 200: GrantList },
      problems: ['invalid_triple'],
      cli: {
        command: 'grants list',
        summary: 'List the roles held on an object',
        refs: { id: 'domains' },
        columns,
      },
    },
    DeleteDomainGrant: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/grants/{tuple_id}',
      summary: 'Take back a role on a Domain, or on a node of it that is in no Project',
      description: 'The subject loses the role with the answer, and keeps those that it holds in other ways.',
      params: ofDomain.extend(tuple),
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'domain_grant.delete', when: 'all' },
      responses: { 204: null },
      problems: ['tuple_not_found'],
      cli: {
        command: 'grants delete',
        summary: 'Take back a role on an object',
        args: ['tuple_id'],
        refs: { id: 'domains', tuple_id: 'grants' },
        confirm: 'yes',
        done: 'Took back grant {tuple_id}.',
      },
    },
    CreatePlatformGrant: {
      ...common,
      method: 'POST',
      path: '/v1/platform/grants',
      summary: 'Grant a role on the platform',
      description: 'The role counts for every Domain. A subject holds a role at most once.',
      body: GrantCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'platform_grant.create', when: 'all' },
      dualControl: heldFor('Make {body.subject} {body.relation} of the platform', 'access.admin'),
      responses: { 201: Grant },
      headers: { Location: 'Path of the new grant' },
      problems: ['invalid_triple', 'tuple_already_exists', 'group_managed_by_provider'],
      cli: {
        command: 'grants platform create',
        args: ['subject', 'relation'],
        refs: { subject: 'subjects' },
        columns,
        done: 'Granted {relation} on {resource} to {subject}.',
      },
    },
    ListPlatformGrants: {
      ...common,
      method: 'GET',
      path: '/v1/platform/grants',
      summary: 'List the roles held on the platform',
      description: 'Roles on Domains are not among them.',
      query: z.strictObject(pageQuery),
      gate: check('manage', 'platform:main'),
      audit: { relation: 'platform_grant.list', when: 'all' },
      paging,
      responses: { 200: GrantList },
      problems: [],
      cli: { command: 'grants platform list', columns },
    },
    DeletePlatformGrant: {
      ...common,
      method: 'DELETE',
      path: '/v1/platform/grants/{tuple_id}',
      summary: 'Take back a role on the platform',
      description: 'The last administrator of the platform keeps the role.',
      params: z.strictObject(tuple),
      gate: check('manage', 'platform:main'),
      audit: { relation: 'platform_grant.delete', when: 'all' },
      responses: { 204: null },
      problems: ['tuple_not_found', 'last_platform_admin'],
      cli: {
        command: 'grants platform delete',
        args: ['tuple_id'],
        refs: { tuple_id: 'grants platform' },
        confirm: 'yes',
        done: 'Took back grant {tuple_id}.',
      },
    },
  },
)
