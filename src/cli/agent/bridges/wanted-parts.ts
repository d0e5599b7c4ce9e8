import { z } from 'zod'

const Port = z.int().min(1).max(65_535)

const Relay = z.object({
  enabled: z.boolean(),
  listen_port: Port,
  /** The nodes that prefer this relay; empty: any node. */
  assignments: z.array(z.object({ peer_node_id: z.string() })),
})

const IngressRule = z.object({
  slug: z.string(),
  sni_host: z.string(),
  target_node_id: z.string(),
  target_port: Port,
  /** Null: TLS is passed through; else an https URL or the reference of a secret. */
  acme_account_ref: z.string().nullable(),
})

const Tunnel = z.object({
  slug: z.string(),
  kind: z.string(),
  remote_host: z.string(),
  remote_port: Port,
  allowed_subnets: z.array(z.string()),
  routing_policy: z.enum(['bidirectional', 'ingress_only', 'egress_only']),
  auth_secret_ref: z.string(),
})

const UserAccess = z.object({
  slug: z.string(),
  kind: z.string(),
  interface_name: z.string(),
  listen_port: Port,
  max_peers: z.int(),
  auth_secret_ref: z.string(),
  /** The network of the peers; absent: there are none. */
  peer_subnet: z.string().optional(),
  peers: z.array(z.object({ public_key: z.string(), address: z.string() })).optional(),
})

const Config = z.object({
  relay: Relay.nullable(),
  ingress: z.array(IngressRule),
  tunnels: z.array(Tunnel),
  user_access: z.array(UserAccess),
})

/** Undefined where the secret could not be fetched. */
interface WithSecret {
  readonly secret: Uint8Array | undefined
}

/** The relay of a bridge; undefined where it has none. */
export type WantedRelay = z.infer<typeof Relay> | undefined
/** A rule of ingress; `secret` is that of `acme_account_ref`. */
export type WantedIngress = z.infer<typeof IngressRule> & WithSecret
export type WantedTunnel = z.infer<typeof Tunnel> & WithSecret
export type WantedUserAccess = z.infer<typeof UserAccess> & WithSecret

/** What a configuration wants of each part. Strings are as the server gave them: parts check what they write elsewhere. */
export interface WantedParts {
  readonly relay: WantedRelay
  readonly ingress: readonly WantedIngress[]
  readonly tunnels: readonly WantedTunnel[]
  readonly userAccess: readonly WantedUserAccess[]
}

/** What is wanted of a bridge that the node does not host. */
export const NOTHING_WANTED: WantedParts = { relay: undefined, ingress: [], tunnels: [], userAccess: [] }

/** Reads a configuration in canonical form. Undefined where a part has another form than this version understands. */
export function readWantedParts(config: string, secrets: ReadonlyMap<string, Uint8Array>): WantedParts | undefined {
  const read = Config.safeParse(JSON.parse(config))
  if (!read.success) return undefined
  const { relay, ingress, tunnels, user_access: userAccess } = read.data
  const withSecret = <T extends { readonly auth_secret_ref: string }>(item: T) => ({
    ...item,
    secret: secrets.get(item.auth_secret_ref),
  })
  return {
    relay: relay ?? undefined,
    ingress: ingress.map((rule) => ({ ...rule, secret: secrets.get(rule.acme_account_ref ?? '') })),
    tunnels: tunnels.map(withSecret),
    userAccess: userAccess.map(withSecret),
  }
}
