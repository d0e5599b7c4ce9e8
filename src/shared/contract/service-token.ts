import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { Instant, KiB, UpdatedAt, uuidField } from './fields.ts'
import {
  CLIENT_CREDENTIALS_GRANT,
  DEVICE_GRANT,
  DEVICE_POLL_PROBLEMS,
  DEVICE_POLL_RELATION,
  JWT_BEARER_ASSERTION,
  JWT_BEARER_GRANT,
  ServiceTokenResponse,
} from './oauth-schemas.ts'

const Assertion = z.string().min(1).max(7168)

const ServiceTokenRequest = z
  .strictObject({
    grant_type: z.string().max(128).describe(`${CLIENT_CREDENTIALS_GRANT}, ${JWT_BEARER_GRANT} or ${DEVICE_GRANT}`),
    client_assertion_type: z.string().max(128).optional().describe(JWT_BEARER_ASSERTION),
    client_assertion: Assertion.optional().describe('Signed with a key of the service identity (RFC 7523 §3)'),
    client_id: z
      .string()
      .max(128)
      .optional()
      .describe('Id of the service identity, if given; with the device grant the client that began the sign-in'),
    assertion: Assertion.optional().describe('A JWT-SVID, with the JWT-bearer grant'),
    device_code: z.string().min(1).max(256).optional().describe('With the device grant'),
    scope: z.string().max(1024).optional().describe('Scopes of the token, separated by blanks; `*` by default'),
  })
  .meta({
    id: 'ServiceTokenRequest',
    description: 'A request to the token endpoint (RFC 6749 §4.4, RFC 7523, RFC 8628).',
  })

const Jwks = z.strictObject({
  keys: z
    .array(z.record(z.string().max(64), z.unknown()))
    .max(64)
    .describe('Public keys as JWKs, at most 64'),
})
const TrustDomain = z
  .string()
  .regex(/^[a-z0-9._-]{1,255}$/)
  .describe('Name of the SPIFFE trust domain, e.g. example.org')

const TrustBundleWrite = z
  .strictObject({
    trust_domain: TrustDomain,
    bundle_url: z
      .string()
      .max(2048)
      .regex(/^https:\/\/\S+$/)
      .optional()
      .describe(
        'Bundle endpoint (SPIFFE Federation, https_web) that is fetched again at the interval that it requests',
      ),
    jwks: Jwks.optional().describe('The bundle itself, where no endpoint serves it'),
    allow_private_network: z
      .boolean()
      .optional()
      .describe('Whether the endpoint may have an address that is not public'),
  })
  .refine(({ bundle_url: url, jwks }) => (url === undefined) !== (jwks === undefined), {
    error: 'give either bundle_url or jwks',
  })

const TrustBundlesRequest = z
  .strictObject({ bundles: z.array(TrustBundleWrite).max(16).describe('All bundles: omitted ones are removed') })
  .meta({
    id: 'TrustBundlesRequest',
    description: 'The SPIFFE trust domains that a Domain accepts from now on.',
    problem: 'invalid_trust_bundle',
  })

const TrustBundles = z
  .object({
    bundles: z
      .array(
        z.object({
          trust_domain: z.string().describe('Name of the SPIFFE trust domain'),
          bundle_url: z
            .string()
            .nullable()
            .describe('Endpoint that the bundle is fetched from; null where it was given'),
          key_ids: z.array(z.string()).describe('Keys that verify JWT-SVIDs'),
          allow_private_network: z.boolean().describe('Whether the endpoint may have an address that is not public'),
          refreshed_at: Instant.nullable().describe('When the bundle was fetched last; null where it was given'),
          refresh_failed_since: Instant.nullable().describe(
            'Since when the endpoint has been unreachable; the old keys stay',
          ),
          updated_at: UpdatedAt,
        }),
      )
      .describe('All trust domains of the Domain'),
  })
  .meta({ id: 'TrustBundles', description: 'The SPIFFE trust domains whose JWT-SVIDs a Domain accepts.' })

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const columns = ['trust_domain', 'bundle_url', 'key_ids', 'refreshed_at', 'refresh_failed_since']

export const serviceToken = defineSurface(
  'workloads',
  {
    summary: 'Signing in of workloads without a shared secret',
    nouns: {
      'trust-bundles': { section: 'Access', position: 12, files: runtime('Keys that the API does not show again') },
    },
  },
  {
    PostAuthServiceToken: {
      method: 'POST',
      path: '/v1/auth/service/token',
      summary: 'Exchange a signed assertion of a workload for an API token of an hour',
      description:
        'The only token endpoint of `/.well-known/oauth-authorization-server` (RFC 8414). It also accepts the device grant, with the same effect and answers as `POST /v1/auth/device-token`.',
      credentials: [],
      oauthErrors: true,
      body: ServiceTokenRequest,
      bodyBytesMax: 8 * KiB,
      bodyMedia: ['application/json', 'application/x-www-form-urlencoded'],
      gate: open('S0 Authentication surface: the assertion is the credential'),
      audit: {
        relation: 'auth.service_token.issue',
        when: 'all',
        byBody: { member: 'grant_type', relations: { [DEVICE_GRANT]: DEVICE_POLL_RELATION } },
      },
      responses: { 200: ServiceTokenResponse },
      problems: ['invalid_client', 'unsupported_grant_type', 'invalid_scope', 'rate_limited', ...DEVICE_POLL_PROBLEMS],
      notProvisioned: 'sign_in_not_provisioned',
    },
    GetTrustBundles: {
      credentials: OPERATOR,
      method: 'GET',
      path: '/v1/domains/{id}/trust-bundles',
      summary: 'Show the SPIFFE trust domains whose JWT-SVIDs a Domain accepts',
      description:
        'Workloads of these trust domains sign in with JWT-SVIDs, and need a service identity with their SPIFFE ID.',
      params: ofDomain,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'trust_bundle.list', when: 'all' },
      responses: { 200: TrustBundles },
      problems: [],
      notProvisioned: 'not_provisioned',
      cli: { command: 'trust-bundles list', refs: { id: 'domains' }, rows: 'bundles', columns },
    },
    PutTrustBundles: {
      credentials: OPERATOR,
      method: 'PUT',
      path: '/v1/domains/{id}/trust-bundles',
      summary: 'Set the SPIFFE trust domains whose JWT-SVIDs a Domain accepts',
      description:
        'Replaces the whole set. A bundle is given as keys, or as an endpoint from which the server fetches them again.',
      params: ofDomain,
      body: TrustBundlesRequest,
      bodyBytesMax: 256 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'trust_bundle.replace', when: 'all' },
      responses: { 200: TrustBundles },
      problems: ['domain_not_found', 'invalid_trust_bundle'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'trust-bundles set',
        refs: { id: 'domains' },
        rows: 'bundles',
        columns,
        examples: ['trust-bundles set -f bundles.yaml'],
      },
    },
  },
)
