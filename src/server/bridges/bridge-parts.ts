import type { Selectable } from 'kysely'
import type { Tables } from '../ports/tables/tables.ts'

type Of<Table extends keyof Tables> = Omit<Selectable<Tables[Table]>, 'resource_id' | 'created_at' | 'updated_at'>

/** The configuration of a relay. */
export type Relay = Pick<Selectable<Tables['bridge_relays']>, 'enabled' | 'listen_port'>
/** The configuration of a user-access provider, with its slug. `routing_policy` is canonical JSON. */
export type UserAccess = Of<'bridge_user_access'>
/** A peer of a user-access provider, which `slug` names. */
export type UserAccessPeer = Pick<
  Selectable<Tables['bridge_user_access_peers']>,
  'slug' | 'name' | 'public_key' | 'address'
>
/** A public ingress rule, with its slug. */
export type IngressRule = Of<'bridge_ingress_rules'>
/** A site-to-site tunnel, with its slug. `allowed_subnets` are canonical and sorted. */
export type Tunnel = Of<'bridge_tunnels'>

/** Everything that one bridge consists of. Lists are sorted by slug. */
export interface BridgeParts {
  readonly relay: Relay | undefined
  readonly userAccess: readonly UserAccess[]
  /** Those of all providers, sorted by the slug of the provider, then by public key. */
  readonly peers: readonly UserAccessPeer[]
  readonly ingress: readonly IngressRule[]
  readonly tunnels: readonly Tunnel[]
}

/** A part that somebody wants to write: it takes the place of the one with its slug. */
export type Candidate =
  | { readonly part: 'relay'; readonly value: Relay }
  | { readonly part: 'user-access'; readonly value: UserAccess }
  | { readonly part: 'ingress'; readonly value: IngressRule }
  | { readonly part: 'site-to-site'; readonly value: Tunnel }

/** The name of a part in problems and claims: `relay`, or `<part>/<slug>`. */
export type PartName = 'relay' | `${'user-access' | 'ingress' | 'site-to-site'}/${string}`

/** The parts with the candidate in its place. */
export function withCandidate(parts: BridgeParts, { part, value }: Candidate): BridgeParts {
  if (part === 'relay') return { ...parts, relay: value }
  if (part === 'user-access') return { ...parts, userAccess: replaced(parts.userAccess, value) }
  if (part === 'ingress') return { ...parts, ingress: replaced(parts.ingress, value) }
  return { ...parts, tunnels: replaced(parts.tunnels, value) }
}

function replaced<Part extends { readonly slug: string }>(parts: readonly Part[], part: Part): readonly Part[] {
  const others = parts.filter(({ slug }) => slug !== part.slug)
  return [...others, part].toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
}
