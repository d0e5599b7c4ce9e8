import { harmless } from '../output/style.ts'
import type { Hints } from './hints.ts'

/** A refusal of a part of a bridge: an answer to a write, or a conflict that a check found. */
export interface BridgeRefusal {
  readonly code: string
  /** The part that is refused, such as `ingress/shop`, where a check says it. */
  readonly part?: string
  /** The other part, such as `ingress/shop`, where there is one. */
  readonly conflicts_with?: string | null
  readonly port?: number
  readonly subnet?: string
}

/** What to do about a refusal of a part of a bridge; undefined for other codes. */
export function bridgeWay(refusal: BridgeRefusal): string | undefined {
  return WAYS[refusal.code]?.(refusal)
}

const WAYS: Readonly<Record<string, (refusal: BridgeRefusal) => string>> = {
  bridge_port_conflict: ({ port, conflicts_with: other }) =>
    `${port === undefined ? 'The port' : `Port ${port}`} belongs to ${partText(other)}. Choose another port, or change that part first${seen(other)}`,
  interface_name_conflict: ({ conflicts_with: other }) =>
    `The interface belongs to ${partText(other)}. Choose another name${seen(other)}`,
  subnet_overlap_with_mesh: ({ subnet }) =>
    `${subnet ?? 'The subnet'} has addresses of the mesh. Choose another subnet, or a narrower one; the mesh is: ctl domains list --columns slug,mesh_cidr`,
  subnet_overlap_with_tunnel: ({ subnet, conflicts_with: other }) =>
    `${subnet ?? 'The subnet'} overlaps ${partText(other)}. A subnet leads to one tunnel: take it from the other one first${seen(other)}`,
  subnet_overlap_with_user_access: ({ subnet, conflicts_with: other }) =>
    `${subnet ?? 'The subnet'} overlaps ${partText(other)}, whose devices have addresses there. Choose another subnet${seen(other)}`,
  subnet_not_routed: () =>
    'See the networks: ctl domains show DOMAIN -o json. A manager of the Domain adds one by naming all of them: ctl domains update DOMAIN --routed-networks 10.0.0.0/8,203.0.113.0/24',
  peer_subnet_missing: () =>
    'Give the provider a subnet: ctl bridge user-access update SLUG --peer-subnet 10.99.0.0/24',
  peer_subnet_in_use: () =>
    'Choose a subnet that has the addresses of all peers, or remove them first: ctl bridge user-access peers list SLUG',
  max_peers_reached: () =>
    'Remove a peer: ctl bridge user-access peers remove SLUG NAME. Or admit more: ctl bridge user-access update SLUG --max-peers N; its subnet must have addresses for them',
  peer_name_conflict: () => 'Choose another name. See which there are: ctl bridge user-access peers list SLUG',
  peer_key_conflict: () =>
    'Each device has a key pair of its own. See which there are: ctl bridge user-access peers list SLUG',
  user_access_peer_not_found: () => 'See which there are: ctl bridge user-access peers list SLUG',
  target_node_not_in_domain: ({ part }) =>
    `Choose a node of the Domain: ctl nodes list${part === undefined ? '' : `. Then: ctl bridge ingress update ${harmless(part.replace(/^.*\//, ''))} --target NODE:PORT`}`,
  secret_ref_malformed: () =>
    'Name a secret of the Project of the bridge: --secret NAME. See which there are: ctl secrets list',
  secret_not_found: () => 'Write it: ctl secrets put NAME --value-file FILE',
  acme_directory_unreachable: () =>
    'A URL: try it with curl; one in a private network needs --acme-allow-hosts of the server. A secret: it must exist, and hold {"directory_url": …}. --no-acme passes TLS through.',
  bridge_limit_exceeded: () => 'Delete parts that nobody needs, or spread them over several bridges: ctl bridge show',
  allowed_subnet_empty: () => 'Give at least one: --subnets 10.20.0.0/16',
  resource_not_bridge: () => 'See the kinds of resources: ctl resources list',
  bridge_relay_not_found: () => 'Give it one: ctl bridge relay set BRIDGE --port PORT',
  user_access_provider_not_found: () => 'See which there are: ctl bridge user-access list',
  ingress_rule_not_found: () => 'See which there are: ctl bridge ingress list',
  site_to_site_tunnel_not_found: () => 'See which there are: ctl bridge site-to-site list',
}

const NOUNS: Readonly<Record<string, string>> = {
  'user-access': 'user access',
  ingress: 'ingress rule',
  'site-to-site': 'tunnel',
}

/** `ingress/shop` is `ingress rule shop`. */
function partText(part: string | null | undefined): string {
  if (part === null || part === undefined) return 'another part'
  const [kind = '', slug] = part.split('/')
  return slug === undefined ? `the ${harmless(kind)}` : `${NOUNS[kind] ?? harmless(kind)} ${harmless(slug)}`
}

/** The command that shows the other part. */
function seen(part: string | null | undefined): string {
  const [kind = '', slug] = (part ?? '').split('/')
  if (NOUNS[kind] === undefined || slug === undefined) return kind === 'relay' ? ': ctl bridge relay show' : '.'
  return `: ctl bridge ${kind} show ${harmless(slug)}`
}

/** What to do next about refusals of bridges, by code. */
export const BRIDGE_HINTS: Readonly<Record<string, Hints>> = Object.fromEntries(
  Object.keys(WAYS).map((code) => [code, hintFor(code)]),
)

function hintFor(code: string): Hints {
  return ({ problem: { document } }) => {
    const { conflicts_with: other, port, subnet, reason, limit } = document
    const way = bridgeWay({
      code,
      ...(typeof other === 'string' && { conflicts_with: other }),
      ...(typeof port === 'number' && { port }),
      ...(typeof subnet === 'string' && { subnet }),
    })
    const why = [reason, limit].filter((text) => typeof text === 'string').map((text) => `  ${text}`)
    return [...why, ...(way === undefined ? [] : [way])]
  }
}
