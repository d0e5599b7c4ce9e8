import { z } from 'zod'
import { readPeerSubnet } from '../bridges/peer-subnet.ts'
import { isRemoteHost } from '../bridges/remote-host.ts'
import { routingPolicyFault } from '../bridges/routing-policy.ts'
import { isSecretRef } from '../bridges/secret-ref.ts'
import { isSniHost, isWildcard, lowerCased } from '../bridges/sni-host.ts'
import { readSubnet } from '../bridges/subnet.ts'
import { isHttpsUrl } from '../https-url.ts'
import { withRule, type NamedMembers, type RuleFault } from './body-rules.ts'
import { CreatedAt, Instant, OfNode, ShownSlug, UpdatedAt, Uuid, uuidField } from './fields.ts'

const PORT_MAX = 65_535

/** A port; one out of range is answered by the rule of its body, anything but a whole number with `invalid_body`. */
const Port = z.int().meta({ minimum: 1, maximum: PORT_MAX })

/** Subnets that a body of 8 KiB has room for, and more. */
const SUBNETS_MAX = 1024

export const BridgeSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    error: 'must be lower-case letters, digits and inner hyphens, at most 63',
  })
  .meta({
    problem: 'invalid_slug',
    description: 'Name for scripts, unique in the bridge: lower-case letters, digits and inner hyphens, at most 63',
  })

const SecretRef = z
  .string()
  .max(256)
  .refine(isSecretRef, {
    error: 'must be secret:<domain>/<project>/<name> or secret:<domain>/<project>/<name>:<version>',
  })
  .meta({
    problem: 'secret_ref_malformed',
    description: 'Reference to a secret of the Project of the bridge; without a version, to the newest one',
    examples: ['secret:acme/edge/hq-key'],
  })

const RoutingPolicy = z
  .record(z.string(), z.unknown())
  .superRefine((policy, context) => {
    const rule = routingPolicyFault(policy)
    if (rule !== undefined) context.addIssue(rule)
  })
  .describe('Any JSON object, handed to the hosts as it is; at most 4 KiB and 32 levels')

const times = { created_at: CreatedAt, updated_at: UpdatedAt }

const userAccess = {
  kind: z.enum(['overlay_a', 'overlay_b', 'wireguard']).describe('Protocol that users connect with'),
  interface_name: z
    .string()
    .regex(/^[a-z][a-z0-9_.-]{0,14}$/, {
      error: 'must be a letter, then up to 14 of a-z, 0-9, dot, hyphen, underscore',
    })
    .describe('Network interface on the hosts; unique in the bridge'),
  listen_port: Port.describe('UDP port on the hosts, 1 to 65535; unique in the bridge'),
  max_peers: z.int().min(1).max(PORT_MAX).describe('Maximum number of peers'),
  auth_secret_ref: SecretRef,
  routing_policy: RoutingPolicy,
  peer_subnet: z
    .string()
    .max(64)
    .transform((text, context) => {
      const read = readPeerSubnet(text)
      if (read.ok) return read.text
      context.addIssue(read.rule)
      return z.NEVER
    })
    .nullable()
    .optional()
    .describe('IPv4 network of the addresses of the peers; the hosts have its first address. Null: there are no peers')
    .meta({ examples: ['10.99.0.0/24'] }),
}

const ingress = {
  sni_host: z
    .string()
    .max(253)
    .transform(lowerCased)
    .refine(isSniHost, {
      error:
        'must be a host name such as shop.example.org, in ASCII (xn--…), without https:// and trailing dot; without ACME it may begin with *.',
    })
    .describe('Server name of the TLS handshake; unique in the bridge'),
  target_node_id: uuidField('invalid_body', 'A node of the Domain'),
  target_port: Port.describe('Port on the target node, 1 to 65535'),
  acme_account_ref: z
    .string()
    .max(512)
    .refine((ref) => isSecretRef(ref) || isHttpsUrl(ref), {
      error: 'must be an https URL without user, password or fragment, or a reference to a secret',
    })
    .nullable()
    .optional()
    .describe('https URL of an ACME directory, or reference to a secret that holds one; null: TLS is passed through'),
}

const tunnel = {
  kind: z.enum(['wireguard', 'ipsec', 'openvpn']).describe('Protocol of the tunnel'),
  remote_host: z
    .string()
    .min(1)
    .max(253)
    .refine(isRemoteHost, { error: 'must be a host name or an address' })
    .describe('Host name or address of the other end'),
  remote_port: Port.describe('Port of the other end, 1 to 65535'),
  auth_secret_ref: SecretRef,
  allowed_subnets: z
    .array(
      z
        .string()
        .max(64)
        .transform((text, context) => {
          const read = readSubnet(text)
          if (read.ok) return read.text
          context.addIssue(read.rule)
          return z.NEVER
        })
        .meta({ examples: ['10.20.0.0/16'] }),
    )
    .max(SUBNETS_MAX)
    .refine((subnets) => new Set(subnets).size === subnets.length, { error: 'must not contain a subnet twice' })
    .describe('Networks behind the other end, IPv4 or IPv6; none overlaps the mesh or another tunnel'),
  routing_policy: z
    .enum(['bidirectional', 'ingress_only', 'egress_only'])
    .describe('ingress_only admits what the other end initiates, egress_only what this side does'),
}

/** A port out of range, and no subnet at all, have codes of their own (S1 Errors). */
function faultOf(body: NamedMembers): RuleFault | undefined {
  const outside = Object.keys(body).filter((name) => name.endsWith('_port') && isOutOfRange(body[name]))
  if (outside.length > 0)
    return { code: 'port_out_of_range', members: outside, detail: `must be between 1 and ${PORT_MAX}` }
  const subnets = body['allowed_subnets']
  if (Array.isArray(subnets) && subnets.length === 0)
    return { code: 'allowed_subnet_empty', members: ['allowed_subnets'], detail: 'must name a subnet' }
  return hasWildcardWithAcme(body)
    ? { code: 'invalid_body', members: ['sni_host'], detail: 'must not be a wildcard where acme_account_ref is given' }
    : undefined
}

function isOutOfRange(port: unknown): boolean {
  return Number.isInteger(port) && (Number(port) < 1 || Number(port) > PORT_MAX)
}

/** A certificate for a wildcard needs a challenge in DNS, which hosts cannot answer (RFC 8555 §8). */
function hasWildcardWithAcme({ sni_host: host, acme_account_ref: ref }: NamedMembers): boolean {
  return typeof host === 'string' && isWildcard(host) && ref !== undefined && ref !== null
}

export const BridgeRelayRequest = withRule(
  z.strictObject({
    enabled: z.boolean().describe('Whether the hosts relay; a disabled relay keeps its port'),
    listen_port: Port.describe('UDP port on the hosts, 1 to 65535; unique in the bridge'),
  }),
  faultOf,
).meta({ id: 'BridgeRelayRequest', description: 'The relay of a bridge as a whole; it replaces the stored one.' })

export const BridgeRelayResponse = z
  .object({
    resource_id: Uuid.describe('The bridge'),
    enabled: z.boolean().describe('Whether the hosts relay'),
    listen_port: z.int().describe('UDP port on the hosts'),
    ...times,
  })
  .meta({
    id: 'BridgeRelayResponse',
    description: 'The relay of a bridge: its hosts forward packets of nodes that do not reach each other.',
  })

export const BridgeUserAccessCreateRequest = withRule(
  z.strictObject({ slug: BridgeSlug, ...userAccess }),
  faultOf,
).meta({ id: 'BridgeUserAccessCreateRequest', description: 'A new provider of access for users.' })
export const BridgeUserAccessUpdateRequest = withRule(z.strictObject(userAccess), faultOf).meta({
  id: 'BridgeUserAccessUpdateRequest',
  description: 'A user-access provider as a whole; it replaces the stored one.',
})
export const BridgeUserAccessResponse = z
  .object({
    resource_id: Uuid.describe('The bridge'),
    slug: ShownSlug,
    kind: userAccess.kind,
    interface_name: z.string().describe('Network interface on the hosts'),
    listen_port: z.int().describe('UDP port on the hosts'),
    max_peers: z.int().describe('Maximum number of peers'),
    auth_secret_ref: z.string().describe('Reference to the secret that authenticates users'),
    routing_policy: z.record(z.string(), z.unknown()).describe('Routing settings, handed to the hosts as they are'),
    peer_subnet: z.string().nullable().describe('Network of the addresses of the peers; null: there are none'),
    ...times,
  })
  .meta({ id: 'BridgeUserAccessResponse', description: 'A provider of access for users, on the hosts of a bridge.' })

export const BridgeIngressCreateRequest = withRule(z.strictObject({ slug: BridgeSlug, ...ingress }), faultOf).meta({
  id: 'BridgeIngressCreateRequest',
  description: 'A new ingress rule: TLS connections for a server name are forwarded to a node.',
})
export const BridgeIngressUpdateRequest = withRule(z.strictObject(ingress), faultOf).meta({
  id: 'BridgeIngressUpdateRequest',
  description: 'An ingress rule as a whole; it replaces the stored one.',
})
export const BridgeIngressResponse = z
  .object({
    resource_id: Uuid.describe('The bridge'),
    slug: ShownSlug,
    sni_host: z.string().describe('Server name of the TLS handshake'),
    target_node_id: Uuid.describe('Node that traffic is forwarded to'),
    target_port: z.int().describe('Port on that node'),
    acme_account_ref: z
      .string()
      .nullable()
      .describe('URL of an ACME directory, or reference to a secret that holds one; null: TLS is passed through'),
    ...times,
  })
  .meta({ id: 'BridgeIngressResponse', description: 'An ingress rule of a bridge.' })

export const BridgeSiteToSiteCreateRequest = withRule(z.strictObject({ slug: BridgeSlug, ...tunnel }), faultOf).meta({
  id: 'BridgeSiteToSiteCreateRequest',
  description: 'A new tunnel to another network.',
})
export const BridgeSiteToSiteUpdateRequest = withRule(z.strictObject(tunnel), faultOf).meta({
  id: 'BridgeSiteToSiteUpdateRequest',
  description: 'A tunnel as a whole; it replaces the stored one.',
})
export const BridgeSiteToSiteResponse = z
  .object({
    resource_id: Uuid.describe('The bridge'),
    slug: ShownSlug,
    kind: tunnel.kind,
    remote_host: z.string().describe('Host name or address of the other end'),
    remote_port: z.int().describe('Port of the other end'),
    auth_secret_ref: z.string().describe('Reference to the secret that authenticates the tunnel'),
    allowed_subnets: z.array(z.string()).describe('Sorted'),
    routing_policy: tunnel.routing_policy,
    ...times,
  })
  .meta({ id: 'BridgeSiteToSiteResponse', description: 'A tunnel of a bridge to another network.' })

/** A whole list: it has no pages (S1 Bridge orchestrator). */
export function wholeListOf<S extends z.ZodType>(items: S): z.ZodObject<{ items: z.ZodArray<S> }> {
  return z.object({ items: z.array(items).describe('Sorted by slug') })
}

/** Parts of one kind, each slug once: which of two takes the place of the stored one would be unclear. */
function partsOf<S extends z.ZodType<{ readonly slug: string }>>(part: S, max: number): z.ZodOptional<z.ZodArray<S>> {
  return z
    .array(part)
    .max(max)
    .refine((parts) => new Set(parts.map(({ slug }) => slug)).size === parts.length, {
      error: 'must not contain a slug twice',
    })
    .optional()
}

/** Parts that take the place of the stored ones with the same slug, or are added to them. */
export const BridgeCheckRequest = z
  .strictObject({
    relay: BridgeRelayRequest.optional(),
    user_access: partsOf(BridgeUserAccessCreateRequest, 64).describe('User-access providers to check, each slug once'),
    ingress: partsOf(BridgeIngressCreateRequest, 256).describe('Ingress rules to check, each slug once'),
    site_to_site: partsOf(BridgeSiteToSiteCreateRequest, 128).describe('Site-to-site tunnels to check, each slug once'),
  })
  .meta({
    id: 'BridgeCheckRequest',
    description:
      'A configuration of a bridge to try. Parts replace the stored ones of the same slug, or are added to them.',
  })

const BridgeConflict = z.object({
  code: z.string().describe('The problem code with which a write would be refused, or what is wrong by now'),
  part: z
    .string()
    .describe('relay, user-access/<slug>, ingress/<slug> or site-to-site/<slug>; bridge where it is the whole'),
  conflicts_with: z.string().nullable().describe('The other part, where there is one'),
  detail: z.string().describe('What conflicts, in one sentence'),
})

export const BridgeCheckResponse = z
  .object({ resource_id: Uuid.describe('The bridge'), conflicts: z.array(BridgeConflict).describe('At most 1,000') })
  .meta({ id: 'BridgeCheckResponse', description: 'Everything that a configuration of a bridge conflicts with.' })

const BridgeHostStatus = z.object({
  node_id: OfNode,
  name: z.string().describe('Name of the host'),
  in_sync: z.boolean().describe('Whether it has applied the configuration and the newest secrets without an error'),
  fingerprint: z.string().nullable().describe('Fingerprint of the configuration that it reports'),
  applied_at: Instant.nullable().describe('When the host applied its configuration; null before the first time'),
  secrets: z.record(z.string(), z.int()).describe('Version that it has of each secret, by reference'),
  error: z.string().nullable().describe('Why the host could not apply its configuration; null where it could'),
  reported_at: Instant.nullable().describe('When its report arrived; null without one'),
})

export const BridgeStatus = z
  .object({
    resource_id: Uuid.describe('The bridge'),
    fingerprint: z.string().nullable().describe('SHA-256 of the effective configuration, base64; null without one'),
    updated_at: UpdatedAt.nullable().describe('When the configuration was changed last; null without one'),
    secrets: z
      .record(z.string(), z.int())
      .describe('Version that hosts are to have of each secret that the configuration names, by reference'),
    hosts: z.array(BridgeHostStatus).describe('Ascending by node id'),
  })
  .meta({
    id: 'BridgeStatus',
    description: 'What a bridge is configured to do, and what each of its hosts has applied.',
  })
