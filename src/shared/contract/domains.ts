import { z } from 'zod'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { heldFor } from './held-calls.ts'
import { nonEmptyPatch } from './patch.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { Domain, DomainCreateRequest, DomainPatchRequest, DomainUsage } from './tenancy-schemas.ts'

const params = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
/** How members are typed. */
const flags = { step_up: { form: 'sign-ins' } } as const
const columns = ['slug', 'display_name', 'mesh_cidr', 'created_at', 'id']

export const domains = defineSurface(
  'domains',
  { summary: 'Tenants', nouns: { domains: { section: 'Tenancy', position: 1, types: ['domain'], files: 'managed' } } },
  {
    CreateDomain: {
      method: 'POST',
      path: '/v1/domains',
      summary: 'Create a Domain',
      description: 'A Domain is a tenant: its own Projects, principals, nodes and mesh.',
      credentials: OPERATOR,
      body: DomainCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'domain.create', when: 'all' },
      responses: { 201: Domain },
      headers: { Location: 'Path of the new Domain' },
      problems: ['slug_conflict'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'domains create',
        args: ['slug'],
        columns,
        flags,
        handle: { member: 'slug', taken: 'slug_conflict' },
        done: 'Created Domain {slug} ({id}).',
      },
    },
    ListDomains: {
      method: 'GET',
      path: '/v1/domains',
      summary: 'List the Domains that you may read',
      description: 'Domains on which the caller does not hold `read` are left out.',
      credentials: OPERATOR,
      query: z.strictObject(pageQuery),
      gate: {
        ...open('each row is filtered by the relation read'),
        rows: { relation: 'read', object: 'domain:{row.id}' },
      },
      audit: { relation: 'domain.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Domain).meta({ id: 'DomainList', description: 'A page of Domains.' }) },
      problems: [],
      notProvisioned: 'not_provisioned',
      cli: { command: 'domains list', columns, wide: ['endpoint_ttl', 'trusted_networks'] },
    },
    GetDomain: {
      method: 'GET',
      path: '/v1/domains/{id}',
      summary: 'Show a Domain',
      description: 'With all of its settings, and with the instants at which it was created and changed.',
      credentials: OPERATOR,
      params,
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'domain.read', when: 'all' },
      responses: { 200: Domain },
      problems: ['domain_not_found'],
      notProvisioned: 'not_provisioned',
      cli: { command: 'domains show', args: ['id'], refs: { id: 'domains' }, columns },
    },
    GetDomainUsage: {
      method: 'GET',
      path: '/v1/domains/{id}/usage',
      summary: 'Count what a Domain holds',
      description: 'The numbers are counted at the time of the call.',
      credentials: OPERATOR,
      params,
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'domain_usage.read', when: 'all' },
      responses: { 200: DomainUsage },
      problems: ['domain_not_found'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'domains usage',
        args: ['id'],
        refs: { id: 'domains' },
        columns: ['slug', 'nodes', 'projects', 'api_tokens', 'id'],
      },
    },
    PatchDomain: {
      method: 'PATCH',
      path: '/v1/domains/{id}',
      summary: 'Change the settings of a Domain',
      description: 'Absent members stay as they are. Slug and `mesh_cidr` never change.',
      credentials: OPERATOR,
      params,
      body: DomainPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'domain.update', when: 'all' },
      responses: { 200: Domain },
      problems: ['domain_not_found'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'domains update',
        args: ['id'],
        refs: { id: 'domains' },
        columns,
        flags,
        done: 'Changed Domain {slug}.',
        examples: [
          'domains update acme --step-up integrity_acknowledge=mfa@15m',
          'domains update acme --routed-networks 10.0.0.0/8,203.0.113.0/24',
        ],
      },
    },
    DeleteDomain: {
      method: 'DELETE',
      path: '/v1/domains/{id}',
      summary: 'Delete an empty Domain',
      description:
        'Refused while the Domain still contains objects, with their counts: Projects, nodes, principals, groups, identity provider bindings, trust bundles, and join tokens and invitations that can still be used. Deleted with it, and not counted: expired or used join tokens and invitations, and unfinished sign-ins of browsers and devices.',
      credentials: OPERATOR,
      params,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'domain.delete', when: 'all' },
      dualControl: heldFor('Delete domain:{path.id}', 'domain.delete'),
      responses: { 204: null },
      problems: ['domain_not_found', 'domain_not_empty'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'domains delete',
        args: ['id'],
        refs: { id: 'domains' },
        confirm: 'typed',
        done: 'Deleted Domain {id}.',
      },
    },
  },
)
