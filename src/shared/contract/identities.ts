import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'
import {
  CreatedAt,
  DisplayName,
  InDomain,
  Instant,
  KiB,
  ManagedBy,
  OwnId,
  pageOf,
  pageQuery,
  ShownName,
  UpdatedAt,
  uuidField,
} from './fields.ts'

const IdentityKind = z.enum(['user', 'service-identity'])

const summary = {
  id: OwnId,
  kind: IdentityKind.describe('Whether it is a person or a workload'),
  domain_id: InDomain,
  display_name: ShownName,
  external_subject_pseudonym: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Pseudonym of the external subject, only valid in this Domain'),
  last_sign_in_at: Instant.nullable().optional().describe('When it signed in last; null before the first time'),
  created_at: CreatedAt,
  disabled: z.boolean().optional().describe('Its credentials are refused'),
  handle: z
    .string()
    .optional()
    .describe(
      'Its handle in commands: the subject of a service identity, the login or e-mail address of a user. Only for auditors of the Domain',
    ),
}

const IdentitySummary = z
  .object(summary)
  .meta({ id: 'IdentitySummary', description: 'A user or service identity, as lists show it.' })

const IdentityDetail = z
  .object({
    ...summary,
    updated_at: UpdatedAt,
    external_subject: z.string().optional().describe('Only for auditors of the Domain'),
    email: z.string().optional().describe('Only for auditors of the Domain; never of a service identity'),
  })
  .meta({ id: 'IdentityDetail', description: 'A user or service identity.' })

const Jwks = z
  .strictObject({
    keys: z
      .array(z.record(z.string().max(64), z.unknown()))
      .min(1)
      .max(8)
      .describe('Public keys as JWKs, 1 to 8'),
  })
  .describe('Public keys (RFC 7517) that the workload signs its assertions with')

const SpiffeId = z
  .string()
  .regex(/^spiffe:\/\/[a-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/)
  .max(2048)
  .describe('SPIFFE ID of the workload, e.g. spiffe://example.org/build')

const ServiceIdentityCreateRequest = z
  .strictObject({
    display_name: DisplayName,
    subject: z
      .string()
      .min(1)
      .max(1024)
      .describe(
        'Name of the workload, unique in the Domain. `<issuer>#<sub>` lets it call with access tokens of that issuer (see idp)',
      ),
    jwks: Jwks.optional(),
    spiffe_id: SpiffeId.optional(),
    managed_by: ManagedBy,
  })
  .meta({
    id: 'ServiceIdentityCreateRequest',
    description: 'A new service identity.',
    problem: 'invalid_service_identity',
  })

const ServiceIdentityPatchRequest = z
  .strictObject({
    display_name: DisplayName.optional(),
    jwks: Jwks.nullable().optional().describe('Public keys (RFC 7517) that replace the current ones; null for none'),
    spiffe_id: SpiffeId.nullable().optional().describe('SPIFFE ID of the workload; null for none'),
    disabled: z.boolean().optional().describe('Whether its tokens and assertions are refused'),
  })
  .meta({
    id: 'ServiceIdentityPatchRequest',
    description: 'Members of a service identity to change.',
    problem: 'invalid_service_identity',
  })

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const created = ['handle', 'display_name', 'kind', 'last_sign_in_at', 'created_at', 'id']
const columns = ['handle', 'display_name', 'kind', 'disabled', 'last_sign_in_at', 'created_at', 'id']
const ofPrincipal = ofDomain.extend({ principal_id: uuidField('invalid_principal_id', 'Service identity') })
const common = { credentials: OPERATOR, notProvisioned: 'identities_not_provisioned' } as const

export const identities = defineSurface(
  'identities',
  {
    summary: 'Users and service identities of a Domain',
    nouns: {
      identities: {
        section: 'Access',
        position: 1,
        files: runtime('People come from identity providers; service identities are managed'),
      },
      users: { types: ['user'], files: runtime('People come from identity providers') },
      'service-identities': { section: 'Access', position: 2, types: ['serviceaccount'], files: 'managed' },
    },
  },
  {
    ListIdentities: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/identities',
      summary: 'List the users and service identities of a Domain, newest first',
      description: 'Filter by `kind`. E-mail addresses and external subjects are shown to auditors alone.',
      params: ofDomain,
      query: z.strictObject({
        kind: IdentityKind.optional().meta({ problem: 'invalid_kind', description: 'One kind only' }),
        handle: z
          .string()
          .min(1)
          .max(1024)
          .optional()
          .describe(
            'Only the principal with exactly this handle: the subject of a service identity, the login of a user; for auditors of the Domain the e-mail address of a user too',
          ),
        reveal: z
          .enum(['true', 'false'])
          .optional()
          .describe('Show the handle of each, where you are an auditor of the Domain; else it is left out'),
        ...pageQuery,
      }),
      gate: {
        ...check('read', 'domain:{path.id}'),
        rows: { relation: 'read', object: '{row.reference}' },
        probes: { reveal: { relation: 'auditor', object: 'domain:{path.id}' } },
      },
      audit: { relation: 'identity.list', when: 'all', context: { kind: { query: 'kind', otherwise: 'all' } } },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: {
        200: pageOf(IdentitySummary).meta({
          id: 'IdentityList',
          description: 'A page of users and service identities.',
        }),
      },
      problems: ['invalid_kind'],
      cli: {
        command: 'identities list',
        refs: { id: 'domains' },
        columns,
        wide: ['external_subject_pseudonym'],
        byHandle: 'handle',
        sends: { reveal: 'true' },
      },
    },
    GetIdentity: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/identities/{principal_id}',
      summary: 'Show a user or service identity',
      description: 'E-mail address and external subject are shown to auditors of the Domain alone.',
      params: ofDomain.extend({ principal_id: uuidField('invalid_principal_id', 'User or service identity') }),
      gate: {
        ...check('read', 'domain:{path.id}'),
        probes: { reveal: { relation: 'auditor', object: 'domain:{path.id}' } },
      },
      audit: { relation: 'identity.read', when: 'all' },
      responses: { 200: IdentityDetail },
      problems: ['identity_not_found'],
      cli: {
        command: 'identities show',
        args: ['principal_id'],
        refs: { id: 'domains', principal_id: 'identities' },
        columns: [...columns, 'external_subject', 'email'],
      },
    },
    CreateServiceIdentity: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/service-identities',
      summary: 'Create a service identity for a workload',
      description:
        'It holds no role at first. It signs in with an API token, or with assertions of the keys or the SPIFFE ID that are given here.',
      params: ofDomain,
      body: ServiceIdentityCreateRequest,
      bodyBytesMax: 8 * KiB,
      overCap: 'invalid_service_identity',
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'service_identity.create', when: 'all' },
      responses: { 201: IdentitySummary },
      headers: { Location: 'Path of the new identity' },
      problems: ['invalid_service_identity', 'domain_not_found', 'service_identity_already_exists'],
      cli: {
        command: 'service-identities create',
        args: ['subject'],
        refs: { id: 'domains' },
        columns: created,
        handle: { member: 'subject', taken: 'service_identity_already_exists', noun: 'service-identities' },
        done: 'Created service identity {body.subject} (serviceaccount:{id}).',
      },
    },
    UpdateServiceIdentity: {
      ...common,
      method: 'PATCH',
      path: '/v1/domains/{id}/service-identities/{principal_id}',
      summary: 'Change a service identity, disable it or enable it again',
      description:
        'While it is disabled its tokens and assertions are refused on every replica, within a second where a replica had just accepted one. Its earlier executions and sessions continue.',
      params: ofPrincipal,
      body: ServiceIdentityPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      overCap: 'invalid_service_identity',
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'service_identity.update', when: 'all', object: 'serviceaccount:{path.principal_id}' },
      responses: { 200: IdentitySummary },
      problems: [
        'invalid_service_identity',
        'identity_not_found',
        'service_identity_already_exists',
        'last_platform_admin',
      ],
      cli: {
        command: 'service-identities update',
        args: ['principal_id'],
        refs: { id: 'domains', principal_id: 'service-identities' },
        columns,
        done: 'Changed service identity {principal_id}.',
      },
    },
    DeleteServiceIdentity: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/service-identities/{principal_id}',
      summary: 'Delete a service identity with its tokens, roles and memberships',
      description:
        'Refused while it has executions that have not ended or sessions that are live on nodes, with their counts, and while it is the last administrator of the platform.',
      params: ofPrincipal,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'service_identity.delete', when: 'all', object: 'serviceaccount:{path.principal_id}' },
      responses: { 204: null },
      problems: ['identity_not_found', 'service_identity_in_use', 'last_platform_admin'],
      cli: {
        command: 'service-identities delete',
        args: ['principal_id'],
        refs: { id: 'domains', principal_id: 'service-identities' },
        confirm: 'yes',
        done: 'Deleted service identity {principal_id}.',
      },
    },
  },
)
