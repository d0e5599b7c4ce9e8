import { parseSecretRef } from '../../shared/bridges/secret-ref.ts'
import type { BridgeParts, Candidate, PartName } from './bridge-parts.ts'
import type { BridgeWorld, Conflict } from './bridge-world.ts'
import { createClaims, nameOf } from './claims.ts'
import { peerConflicts } from './peer-conflicts.ts'
import { meshConflicts, subnetConflicts, type Routed } from './subnet-conflicts.ts'

/** How many parts of a kind a bridge has at most (decisions: Sizes). */
const COUNT_MAX = { relay: 1, 'user-access': 64, ingress: 256, 'site-to-site': 128 } as const
const COUNTED = {
  relay: '1 relay',
  'user-access': '64 user-access providers',
  ingress: '256 ingress rules',
  'site-to-site': '128 site-to-site tunnels',
} as const

/**
 * Finds the conflicts of a candidate with a bridge (S1 Bridge orchestrator; decisions: Ports, Subnets, Secret refs, Sizes).
 * Pure. The part that the candidate replaces takes no part.
 *
 * A write answers the first of them. Their order: the target, the secret reference, ports (of the relay, of providers, then of
 * ingress rules), the interface name, the server name, the mesh, networks of other parts (providers, then tunnels, by slug, then
 * by subnet), the peers of a provider, the count.
 */
export function conflictsOf(world: BridgeWorld, candidate: Candidate): readonly Conflict[] {
  const name = nameOf(candidate)
  const others = partsOf(world.parts).filter((other) => nameOf(other) !== name)
  const claims = createClaims(world.hostIds)
  for (const other of others) claims.add(other)
  const subnets = routedOf(candidate) === undefined ? undefined : subnetConflicts(routesOf([...others, candidate]))
  return [
    ...faultsOf(world, candidate),
    ...claims.conflictsOf(candidate),
    ...meshFaultsOf(world, candidate),
    ...(subnets?.get(name) ?? []),
    ...peerConflicts(world.parts, candidate),
    ...countConflicts(candidate, others.filter(({ part }) => part === candidate.part).length),
  ]
}

/**
 * Finds the conflicts of all parts with each other and with their surroundings: those of each part with the parts before it,
 * so each pair once. The order of parts: relay, providers, ingress rules, tunnels, by slug; those in `last` come after all
 * others, so that `with` names a part that is not among them where there is one.
 */
export function conflictsWithin(world: BridgeWorld, last: ReadonlySet<PartName> = new Set()): readonly Conflict[] {
  const parts = partsOf(world.parts).toSorted((a, b) => Number(last.has(nameOf(a))) - Number(last.has(nameOf(b))))
  const subnets = subnetConflicts(routesOf(parts))
  const claims = createClaims(world.hostIds)
  const counts = new Map<Candidate['part'], number>()
  return parts.flatMap((part) => {
    const count = counts.get(part.part) ?? 0
    counts.set(part.part, count + 1)
    const found = claims.conflictsOf(part)
    claims.add(part)
    return [
      ...faultsOf(world, part),
      ...found,
      ...meshFaultsOf(world, part),
      ...(subnets.get(nameOf(part)) ?? []),
      ...peerConflicts(world.parts, part),
      ...countConflicts(part, count),
    ]
  })
}

/**
 * Finds what forbids that these nodes host the bridge: ingress rules whose target would be a host on which the relay or a
 * provider listens on the same port (decisions: Ports).
 */
export function hostConflictsOf(
  { parts }: Pick<BridgeWorld, 'parts'>,
  hostIds: readonly string[],
): readonly Conflict[] {
  const claims = createClaims(hostIds)
  for (const part of partsOf({ ...parts, ingress: [], tunnels: [] })) claims.add(part)
  return partsOf({ ...parts, relay: undefined, userAccess: [], tunnels: [] }).flatMap((part) =>
    claims.conflictsOf(part),
  )
}

/** All parts, in the order of claims. */
export function partsOf({ relay, userAccess, ingress, tunnels }: BridgeParts): readonly Candidate[] {
  return [
    ...(relay === undefined ? [] : [{ part: 'relay' as const, value: relay }]),
    ...userAccess.map((value) => ({ part: 'user-access' as const, value })),
    ...ingress.map((value) => ({ part: 'ingress' as const, value })),
    ...tunnels.map((value) => ({ part: 'site-to-site' as const, value })),
  ]
}

/** The networks that a part leads to; undefined where it leads to none. */
function routedOf(candidate: Candidate): Routed | undefined {
  const part = nameOf(candidate)
  if (candidate.part === 'site-to-site') return { part, subnets: candidate.value.allowed_subnets }
  if (candidate.part !== 'user-access' || candidate.value.peer_subnet === null) return undefined
  return { part, subnets: [candidate.value.peer_subnet] }
}

/** The networks that parts lead to; those that lead to none are absent. */
export function routesOf(parts: readonly Candidate[]): readonly Routed[] {
  return parts.flatMap((part) => routedOf(part) ?? [])
}

/** What is wrong with a part whatever the others are. */
function faultsOf({ domainSlug, projectSlug, targetIds }: BridgeWorld, candidate: Candidate): readonly Conflict[] {
  const part = nameOf(candidate)
  const isElsewhere = candidate.part === 'ingress' && !targetIds.has(candidate.value.target_node_id)
  const ref = secretRefOf(candidate)
  const isForeign = ref !== undefined && (ref.domain !== domainSlug || ref.project !== projectSlug)
  return [
    ...(isElsewhere ? [{ code: 'target_node_not_in_domain' as const, part }] : []),
    ...(isForeign ? [{ code: 'secret_ref_malformed' as const, part }] : []),
  ]
}

/** The secret that a part names. An ingress rule may name an https URL instead. */
function secretRefOf(candidate: Candidate): ReturnType<typeof parseSecretRef> {
  if (candidate.part === 'relay') return undefined
  if (candidate.part !== 'ingress') return parseSecretRef(candidate.value.auth_secret_ref)
  return parseSecretRef(candidate.value.acme_account_ref ?? '')
}

function meshFaultsOf({ meshCidr }: BridgeWorld, candidate: Candidate): readonly Conflict[] {
  const routed = routedOf(candidate)
  return routed === undefined ? [] : meshConflicts(routed, meshCidr)
}

function countConflicts(candidate: Candidate, others: number): readonly Conflict[] {
  if (others < COUNT_MAX[candidate.part]) return []
  return [{ code: 'bridge_limit_exceeded', part: nameOf(candidate), limit: COUNTED[candidate.part] }]
}
