import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { heldFor } from './held-calls.ts'
import { nonEmptyPatch } from './patch.ts'
import {
  CreatedAt,
  DisplayName,
  InDomain,
  KiB,
  OwnId,
  pageOf,
  pageQuery,
  Slug,
  UpdatedAt,
  uuidField,
} from './fields.ts'

/** Signature algorithms that a binding may pin; none of them is symmetric (RFC 8725 §3.1). */
export const IDP_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const

const DomainIdPBinding = z
  .object({
    id: OwnId,
    alias: z.string().describe('Name for scripts, unique in its place'),
    label: z.string().describe('Name for people'),
    issuer_host: z.string().describe('Host of the issuer, for people'),
    primary: z.boolean().describe('Whether it is taken where a request names none'),
    platform_scoped: z.boolean().describe('Shared by the Domains that have no binding of their own'),
  })
  .meta({ id: 'DomainIdPBinding', description: 'An identity provider that a Domain offers for signing in.' })

const ClaimName = z.string().min(1).max(128)

const Claims = z
  .strictObject({
    subject: ClaimName.optional().describe('`sub` by default'),
    email: ClaimName.optional().describe('`email` by default'),
    name: ClaimName.optional().describe('`name` by default'),
    groups: ClaimName.nullable().optional().describe('Array of group names; none by default'),
    domain: ClaimName.nullable().optional().describe('Slug or id of the Domain; only for platform-shared bindings'),
  })
  .describe(
    'Names of the claims that carry the subject, name, email address and groups of a person. A member that is absent keeps its default at creation and its value in a change',
  )

const AutoProvision = z
  .strictObject({
    email_domains: z
      .array(z.string().min(1).max(253))
      .max(32)
      .default([])
      .describe('Domains of verified e-mail addresses, at most 32'),
    groups: z
      .array(z.string().min(1).max(256))
      .max(32)
      .default([])
      .describe('Groups that the identity provider states, at most 32'),
  })
  .refine(({ email_domains, groups }) => email_domains.length + groups.length > 0, {
    error: 'must name an e-mail domain or a group',
  })

const ClientSecret = z.string().min(1).max(4096)

const members = {
  alias: Slug.describe('Name for people and scripts, unique in its place'),
  label: DisplayName,
  issuer: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[^?#\s]+$/, { error: 'must be an http(s) URL without query and fragment' })
    .describe('Issuer identifier of OpenID Connect Discovery'),
  client_id: z.string().min(1).max(512).describe('Id of this server at the identity provider'),
  client_secret: ClientSecret.optional().meta({
    writeOnly: true,
    description: 'Secret of the client, kept sealed and never shown again',
  }),
  api_audience: z
    .string()
    .min(1)
    .max(512)
    .nullable()
    .optional()
    .describe('Audience of access tokens that may call this API; never the client id'),
  algorithms: z.array(z.enum(IDP_ALGORITHMS)).min(1).max(10).optional().describe('RS256 and ES256 by default'),
  claims: Claims.optional(),
  required_acr: z.array(z.string().min(1).max(256)).max(16).optional().describe('A sign-in must have one of these'),
  required_amr: z.array(z.string().min(1).max(64)).max(16).optional().describe('A sign-in must have all of these'),
  sign_in: z
    .boolean()
    .optional()
    .describe(
      'Whether people sign in with this provider; true by default. If false, only its access tokens for `api_audience` are accepted',
    ),
  primary: z.boolean().optional().describe('Taken where a request names none'),
  auto_provision: AutoProvision.nullable()
    .optional()
    .describe(
      'Who may sign in without an invitation: verified e-mail addresses of these domains, or members of these groups',
    ),
  allow_private_network: z.boolean().optional().describe('Whether the issuer may have an address that is not public'),
}

const IdPBindingCreateRequest = z
  .strictObject(members)
  .meta({ id: 'IdPBindingCreateRequest', description: 'A new binding to an OpenID Connect issuer.' })
const IdPBindingPatchRequest = z
  .strictObject({
    ...members,
    client_secret: ClientSecret.nullable().meta({
      writeOnly: true,
      description: 'Secret of the client, kept sealed and never shown again; null for a public client',
    }),
    active: z
      .boolean()
      .describe('Whether people can sign in with it; deactivating it ends the sessions that began with it'),
  })
  .partial()
  .meta({ id: 'IdPBindingPatchRequest', description: 'Members of a binding to change.' })

const IdPBinding = z
  .object({
    id: OwnId,
    domain_id: InDomain.nullable().describe('Domain that it belongs to; null where it is shared across the platform'),
    alias: z.string().describe('Name for scripts, unique in its place'),
    label: z.string().describe('Name for people'),
    issuer: z.string().describe('Issuer identifier of OpenID Connect Discovery'),
    client_id: z.string().describe('Id of this server at the identity provider'),
    client_secret_ref: z.string().nullable().describe('Where the client secret is kept; null for a public client'),
    api_audience: z.string().nullable().describe('Audience of access tokens that may call this API; null: none may'),
    algorithms: z.array(z.string()).describe('Accepted signature algorithms'),
    claims: z
      .object({
        subject: z.string().describe('Claim of the subject'),
        email: z.string().describe('Claim of the e-mail address'),
        name: z.string().describe('Claim of the name'),
        groups: z.string().nullable().describe('Claim of the group names; null for none'),
        domain: z.string().nullable().describe('Claim of the slug or id of the Domain; null for none'),
      })
      .describe('Names of the claims that carry the facts about a person'),
    required_acr: z.array(z.string()).describe('A sign-in must have one of these; empty: any'),
    required_amr: z.array(z.string()).describe('A sign-in must have all of these; empty: any'),
    sign_in: z.boolean().describe('Whether people sign in with it, or only its access tokens are accepted'),
    primary: z.boolean().describe('Whether it is taken where a request names none'),
    active: z.boolean().describe('Whether people can sign in with it'),
    auto_provision: z
      .object({
        email_domains: z.array(z.string()).describe('Domains of verified e-mail addresses'),
        groups: z.array(z.string()).describe('Groups that the identity provider states'),
      })
      .nullable()
      .describe('Who may sign in without an invitation; null for nobody'),
    allow_private_network: z.boolean().describe('Whether the issuer may have an address that is not public'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({
    id: 'IdPBinding',
    description: 'An OpenID Connect issuer that people of a Domain sign in with, without its client secret.',
  })

const IdPBindingTest = z
  .object({
    passed: z.boolean().describe('Whether every step passed'),
    steps: z
      .array(
        z.object({
          step: z
            .enum(['discovery', 'endpoints', 'keys', 'algorithms', 'authorization', 'client'])
            .describe('The step of a sign-in'),
          outcome: z.enum(['passed', 'failed', 'skipped']).describe('How the step went'),
          says: z.string().describe('The finding, or what to fix'),
        }),
      )
      .describe('In the order in which a sign-in goes through them; those after a failure are skipped'),
  })
  .meta({
    id: 'IdPBindingTest',
    description: 'What a trial of the steps of a sign-in found, without a person signing in.',
  })

const place = {
  domain_id: uuidField('invalid_domain_id', 'Domain that the binding belongs to').optional(),
  scope: z
    .enum(['platform'])
    .optional()
    .meta({ problem: 'invalid_query', description: 'The platform-shared bindings' }),
}

/** In a Domain or on the platform: if both were named, the gate of one would admit to the other. */
function inOnePlace<S extends z.ZodObject>(schema: S): S {
  return schema.refine((query) => (query['domain_id'] === undefined) !== (query['scope'] === undefined), {
    error: 'name a domain_id, or scope=platform',
  })
}

const params = z.strictObject({ id: uuidField('invalid_idp_binding_id', 'Binding') })
const columns = ['alias', 'label', 'issuer', 'primary', 'active', 'id']
const common = { credentials: OPERATOR, notProvisioned: 'not_provisioned' } as const
/** A leg whose hole is not in the query is skipped; `scope=platform` fills the second. */
const placeGate = {
  anyOf: [
    { relation: 'manage', object: 'domain:{query.domain_id}' },
    { relation: 'manage', object: 'platform:main' },
  ],
} as const

/** Anyone who lacks `manage` gets the answer of a binding that does not exist. */
const bindingGate = {
  ...check('manage', '{row.place}'),
  missingRow: 'idp_binding_not_found',
  fold: 'idp_binding_not_found',
} as const

export const idpBindings = defineSurface(
  'idp',
  {
    summary: 'Identity providers that people sign in with',
    nouns: {
      idp: {
        section: 'Access',
        position: 11,
        files: runtime('A binding needs its client secret, which no file may hold'),
      },
    },
  },
  {
    GetAuthIdPBindings: {
      method: 'GET',
      path: '/v1/auth/idp-bindings',
      summary: 'List the identity providers that a Domain offers for signing in',
      description: 'Open to everybody, since it is asked before a sign-in. It names no secret and no client.',
      credentials: [],
      perAddress: true,
      query: z.strictObject({ domain_id: uuidField('invalid_domain_id', 'Domain') }),
      gate: open('S0 Authentication 2: asked before anybody is signed in'),
      audit: { none: 'S0 Authentication surface: none' },
      responses: {
        200: z.array(DomainIdPBinding).describe('The identity providers that people can sign in with.'),
      },
      noStore: true,
      problems: ['invalid_domain_id'],
    },
    GetAdminIdP: {
      ...common,
      method: 'GET',
      path: '/v1/admin/idp',
      summary: 'List the identity provider bindings of a Domain, or of the platform',
      description: 'Name either a Domain or `scope=platform`. Client secrets are never shown.',
      query: inOnePlace(z.strictObject({ ...place, ...pageQuery })),
      gate: placeGate,
      audit: { relation: 'idp_binding.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(IdPBinding).meta({ id: 'IdPBindingList', description: 'A page of bindings.' }) },
      problems: ['invalid_domain_id'],
      cli: {
        command: 'idp list',
        refs: { domain_id: 'domains' },
        columns,
        wide: ['sign_in', 'api_audience'],
        ownDomain: { member: 'domain_id', unless: ['scope'] },
      },
    },
    PostAdminIdP: {
      ...common,
      method: 'POST',
      path: '/v1/admin/idp',
      summary: 'Bind an OpenID Connect issuer to a Domain, or share it across the platform',
      description: 'Name either a Domain or `scope=platform`. The client secret is kept sealed and never shown again.',
      query: inOnePlace(z.strictObject(place)),
      body: IdPBindingCreateRequest,
      bodyBytesMax: 16 * KiB,
      gate: placeGate,
      audit: { relation: 'idp_binding.create', when: 'all' },
      dualControl: heldFor('Let people sign in with the identity provider {body.issuer}', 'idp.write'),
      responses: { 201: IdPBinding },
      headers: { Location: 'Path of the new binding' },
      problems: ['invalid_domain_id', 'domain_not_found', 'invalid_idp_binding', 'idp_binding_conflict'],
      cli: {
        command: 'idp create',
        args: ['alias'],
        refs: { domain_id: 'domains' },
        columns,
        handle: { member: 'alias', taken: 'idp_binding_conflict' },
        ownDomain: { member: 'domain_id', unless: ['scope'] },
        examples: [
          'idp create google --label Google --issuer https://accounts.google.com --client-id web --client-secret-file secret',
          `idp create sso --label 'Our sign-in' --issuer https://sso.example.com/realms/main --client-id ctl --claims '{"groups":"groups"}'`,
          'idp create okta --scope platform --from-file okta.yaml --client-secret-file -',
        ],
      },
    },
    PatchAdminIdPByID: {
      ...common,
      method: 'PATCH',
      path: '/v1/admin/idp/{id}',
      summary: 'Change a binding; nobody can sign in with an inactive one',
      description: 'Absent members stay as they are. Deactivating a binding ends the sessions that began with it.',
      params,
      body: IdPBindingPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 16 * KiB,
      gate: bindingGate,
      audit: { relation: 'idp_binding.update', when: 'all' },
      dualControl: heldFor('Change the identity provider {path.id}', 'idp.write'),
      responses: { 200: IdPBinding },
      problems: ['idp_binding_not_found', 'invalid_idp_binding', 'idp_binding_conflict'],
      cli: { command: 'idp update', args: ['id'], refs: { id: 'idp' }, columns },
    },
    DeleteAdminIdPByID: {
      ...common,
      method: 'DELETE',
      path: '/v1/admin/idp/{id}',
      summary: 'Remove a binding and end the sessions that began with it',
      description: 'The users that signed in with it stay, and keep their roles.',
      params,
      gate: bindingGate,
      audit: { relation: 'idp_binding.delete', when: 'all' },
      dualControl: heldFor('Remove the identity provider {path.id}', 'idp.write'),
      responses: { 204: null },
      problems: ['idp_binding_not_found'],
      cli: { command: 'idp delete', args: ['id'], refs: { id: 'idp' }, confirm: 'yes', done: 'Removed binding {id}.' },
    },
    PostAdminIdPTest: {
      ...common,
      method: 'POST',
      path: '/v1/admin/idp/{id}/test',
      summary: 'Test the steps of a sign-in with the binding, and show which step fails',
      description:
        'Discovery, endpoints, keys, algorithms, and whether the issuer takes an authorization request and knows the client.',
      params,
      gate: bindingGate,
      audit: { relation: 'idp_binding.test', when: 'all' },
      responses: { 200: IdPBindingTest },
      problems: ['idp_binding_not_found'],
      idempotent: true,
      cli: {
        command: 'idp test',
        args: ['id'],
        refs: { id: 'idp' },
        rows: 'steps',
        columns: ['step', 'outcome', 'says'],
      },
    },
  },
)
