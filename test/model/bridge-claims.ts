import type { Candidate, PartName } from '../../src/server/bridges/bridge-parts.ts'

/** What conflicts depend on beside the parts. */
export interface Place {
  readonly hostIds: readonly string[]
  readonly meshCidr: string
  readonly targetIds: ReadonlySet<string>
}

export const nameOf = (candidate: Candidate): PartName =>
  candidate.part === 'relay' ? 'relay' : `${candidate.part}/${candidate.value.slug}`

/**
 * The conflicts of a part with another one, as texts: a part claims sockets, names and addresses, each a text of its own, and
 * two parts conflict where a text is in both. Nothing is compared but texts.
 */
export function conflictsBetween(later: Candidate, earlier: Candidate, place: Place): readonly string[] {
  const pair = `${nameOf(later)} ${nameOf(earlier)}`
  const subnets = subnetsOf(later).filter((subnet) =>
    meet(addressesOf(subnet), subnetsOf(earlier).flatMap(addressesOf)),
  )
  return [
    ...(meet(socketsOf(later, place), socketsOf(earlier, place))
      ? [`bridge_port_conflict ${pair} ${portOf(later)}`]
      : []),
    ...(meet(interfacesOf(later), interfacesOf(earlier)) ? [`interface_name_conflict ${pair}`] : []),
    ...(meet(serverNamesOf(later), serverNamesOf(earlier)) ? [`slug_conflict ${pair}`] : []),
    ...subnets.map((subnet) => `${OVERLAPS[earlier.part] ?? ''} ${pair} ${subnet}`),
  ]
}

/** The code of an overlap with an earlier part. */
const OVERLAPS: Readonly<Partial<Record<Candidate['part'], string>>> = {
  'site-to-site': 'subnet_overlap_with_tunnel',
  'user-access': 'subnet_overlap_with_user_access',
}

/** What is wrong with a part alone. */
export function faultsOf(candidate: Candidate, { meshCidr, targetIds }: Place): readonly string[] {
  const name = nameOf(candidate)
  const { part, value } = candidate
  const refs = part === 'relay' ? [] : part === 'ingress' ? [value.acme_account_ref ?? ''] : [value.auth_secret_ref]
  return [
    ...(part === 'ingress' && !targetIds.has(value.target_node_id) ? [`target_node_not_in_domain ${name}`] : []),
    ...(refs.some((ref) => ref.startsWith('secret:') && !ref.startsWith('secret:acme/edge/'))
      ? [`secret_ref_malformed ${name}`]
      : []),
    ...subnetsOf(candidate)
      .filter((subnet) => meet(addressesOf(subnet), addressesOf(meshCidr)))
      .map((subnet) => `subnet_overlap_with_mesh ${name} ${subnet}`),
  ]
}

function meet(some: readonly string[], others: readonly string[]): boolean {
  const known = new Set(others)
  return some.some((text) => known.has(text))
}

/** A listener has its port on each host, and in the bridge where it has no host yet. A target is one socket. */
function socketsOf({ part, value }: Candidate, { hostIds }: Place): readonly string[] {
  if (part === 'site-to-site') return []
  if (part === 'ingress') return [`${value.target_node_id}:${value.target_port}`]
  return ['bridge', ...hostIds].map((at) => `${at}:${value.listen_port}`)
}

function portOf({ part, value }: Candidate): number {
  if (part === 'site-to-site') return 0
  return part === 'ingress' ? value.target_port : value.listen_port
}

function interfacesOf({ part, value }: Candidate): readonly string[] {
  return part === 'user-access' ? [value.interface_name] : []
}

function serverNamesOf({ part, value }: Candidate): readonly string[] {
  return part === 'ingress' ? [value.sni_host] : []
}

function subnetsOf({ part, value }: Candidate): readonly string[] {
  if (part === 'user-access') return value.peer_subnet === null ? [] : [value.peer_subnet]
  return part === 'site-to-site' ? value.allowed_subnets : []
}

const enumerated = new Map<string, readonly string[]>()

/** Every address of a network that has 256 at most and ends in the last byte: `10.0.0.n`, or `::a00:n`, the same number in the other family. */
function addressesOf(cidr: string): readonly string[] {
  const known = enumerated.get(cidr)
  if (known !== undefined) return known
  const [, prefix = '', last = '', length = ''] = /^(10\.0\.0\.|::a00:)([0-9a-f]*)\/(\d+)$/.exec(cidr) ?? []
  const isV4 = prefix === '10.0.0.'
  const first = isV4 ? Number(last) : Number(`0x0${last}`)
  const size = 2 ** ((isV4 ? 32 : 128) - Number(length))
  const addresses = Array.from({ length: size }, (_, n) => `${prefix}${first + n}`)
  enumerated.set(cidr, addresses)
  return addresses
}
