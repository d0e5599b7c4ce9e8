import type { IngressRule, Provider, Tunnel } from '../answers.ts'
import type { WholeBridge } from '../reading.ts'
import { directionText, peersText, remoteText } from '../sentences.ts'

/** A box: its name, and what more there is to say of it. */
export interface Item {
  readonly name: string
  readonly lines: readonly string[]
}

/** Another site, or those who come in by user access. */
export interface Side extends Item {
  readonly kind: 'site' | 'users'
  /** Which way connections go. */
  readonly flow: Tunnel['routing_policy']
}

/** A server name, and the node that gets its connections. */
export interface Entrance extends Item {
  readonly target: string
  readonly port: number
}

/** What pictures show of a bridge. */
export interface BridgePicture {
  readonly bridge: Item & { readonly isRelaying: boolean }
  readonly sides: readonly Side[]
  /** Those of one node side by side. */
  readonly entrances: readonly Entrance[]
}

/** Subnets that a box names. */
const SUBNETS_SHOWN = 4
const HOSTS_SHOWN = 6

/** Makes the picture of a bridge, with nodes by their names. */
export function pictureOf(whole: WholeBridge, names: (id: string) => string): BridgePicture {
  const { resource, relay, user_access: providers, ingress, site_to_site: tunnels } = whole
  const hosts = resource.host_node_ids.map(names)
  return {
    bridge: {
      name: resource.slug,
      lines: [relayLine(relay), ...hostLines(hosts)],
      isRelaying: relay?.enabled === true,
    },
    sides: [...tunnels.map(siteOf), ...providers.map(usersOf)],
    entrances: ingress
      .map((rule) => entranceOf(rule, names))
      .toSorted((one, other) => compared(one.target, other.target) || compared(one.name, other.name)),
  }
}

function relayLine(relay: WholeBridge['relay']): string {
  if (relay === null) return 'no relay'
  return relay.enabled ? `relay on port ${relay.listen_port}` : 'relay disabled'
}

function hostLines(hosts: readonly string[]): readonly string[] {
  return hosts.length === 0 ? ['no host'] : someOf(hosts, HOSTS_SHOWN).map((host) => `host ${host}`)
}

function siteOf(tunnel: Tunnel): Side {
  const { slug, kind, allowed_subnets: subnets, routing_policy: flow } = tunnel
  const direction = flow === 'bidirectional' ? [] : [directionText(tunnel)]
  return {
    kind: 'site',
    name: slug,
    lines: [kind, remoteText(tunnel), ...someOf(subnets, SUBNETS_SHOWN), ...direction],
    flow: isKnown(flow) ? flow : 'bidirectional',
  }
}

/** A later server may know more of them. */
function isKnown(flow: string): boolean {
  return flow === 'ingress_only' || flow === 'egress_only'
}

function usersOf(provider: Provider): Side {
  const { slug, kind, listen_port: port } = provider
  return {
    kind: 'users',
    name: slug,
    lines: [`users by ${kind}`, `port ${port}`, peersText(provider)],
    flow: 'ingress_only',
  }
}

function entranceOf(rule: IngressRule, names: (id: string) => string): Entrance {
  const { sni_host: name, target_node_id: id, target_port: port, acme_account_ref: acme } = rule
  const tls = acme === null ? 'TLS passed through' : 'certificate by ACME'
  return { name, lines: [`rule ${rule.slug}`, tls], target: names(id), port }
}

function someOf(texts: readonly string[], most: number): readonly string[] {
  if (texts.length <= most) return texts
  return [...texts.slice(0, most - 1), `and ${texts.length - most + 1} more`]
}

function compared(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** The nodes that get connections, each once, in the order of the entrances. */
export function targetsOf({ entrances }: BridgePicture): readonly string[] {
  return [...new Set(entrances.map(({ target }) => target))]
}
