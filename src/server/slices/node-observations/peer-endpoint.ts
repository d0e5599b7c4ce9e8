import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { isLocalHost, type EndpointAddress } from './endpoint-address.ts'

/** The endpoint that a node reports of itself. */
export interface OwnEndpoint extends EndpointAddress {
  readonly natType: string
  /** The node's own instant of the observation, ms. */
  readonly reportedAtMs: number
}

/** Where a peer of the node sees it. One for each peer. */
export interface Observation extends EndpointAddress {
  /** When the peer reported that address for the first time, by the server's clock, ms. */
  readonly sinceMs: number
  /** When it observed the address last, by its own clock, ms. */
  readonly observedAtMs: number
}

/** What peers get as the endpoint of a node. */
export interface PeerEndpoint extends EndpointAddress {
  /** The instant of the newest report of that address, ms. */
  readonly confirmedAtMs: number
}

/** Reports about one node, those alone that are fresh. */
export interface FreshReports {
  /** `candidates`: further addresses of it, which its peers get beside the endpoint. */
  readonly own: (OwnEndpoint & { readonly candidates?: readonly string[] }) | undefined
  readonly observed: readonly Observation[]
}

/** Observations from before a node moved have 0. */
const GUESS_SINCE_MS = 1

interface Candidate extends PeerEndpoint {
  readonly isConfirmed: boolean
  readonly isLocal: boolean
  /** Since when it has as many witnesses as `isConfirmed` needs, ms. */
  readonly sinceMs: number
}

/**
 * Chooses what peers get; undefined without reports. A node that has determined its endpoint decides itself. Else the address
 * that two witnesses confirm precedes one with a single witness, then a public address a local one, then the newest. The
 * node's own guess is a witness, and what is left where no peer has seen the node.
 */
export function choosePeerEndpoint({ own, observed }: FreshReports): PeerEndpoint | undefined {
  if (own !== undefined && !isGuess(own)) return fromOwn(own)
  // Peers at the same site see an address that is of no use to the others.
  const isUsable = ({ host }: EndpointAddress) => own === undefined || isLocalHost(own.host) || !isLocalHost(host)
  const usable = withoutCandidates(observed.filter(isUsable), own?.candidates ?? [])
  const [best] = candidatesOf(usable, own).toSorted(byPreference)
  if (best !== undefined) return { host: best.host, port: best.port, confirmedAtMs: best.confirmedAtMs }
  return own && fromOwn(own)
}

/**
 * The observations without local addresses that peers get as candidates anyway, where some have seen the node at a public one: its
 * neighbours must not hide it from the others.
 */
function withoutCandidates(observed: readonly Observation[], candidates: readonly string[]): readonly Observation[] {
  if (observed.every(({ host }) => isLocalHost(host))) return observed
  const known = new Set(candidates)
  return observed.filter(({ host, port }) => !isLocalHost(host) || !known.has(formatEndpoint(host, port)))
}

/** Whether the endpoint is a guess, which what peers see replaces. */
export function isGuess({ natType }: Pick<OwnEndpoint, 'natType'>): boolean {
  return natType === 'unknown'
}

export function isSameAddress(one: EndpointAddress, other: EndpointAddress): boolean {
  return one.host === other.host && one.port === other.port
}

function fromOwn({ host, port, reportedAtMs }: OwnEndpoint): PeerEndpoint {
  return { host, port, confirmedAtMs: reportedAtMs }
}

function candidatesOf(observed: readonly Observation[], own: OwnEndpoint | undefined): readonly Candidate[] {
  const seen = new Map<string, Observation[]>()
  for (const one of observed) {
    const key = `${one.host} ${one.port}`
    const same = seen.get(key)
    if (same === undefined) seen.set(key, [one])
    else same.push(one)
  }
  return [...seen.values()].flatMap((witnesses) => candidateOf(witnesses, own) ?? [])
}

/**
 * Of an address that several have seen, the second newest witness counts: a single one that comes again, or that joins others
 * that have seen an old address, must not make it the newest.
 */
function candidateOf(witnesses: readonly Observation[], own: OwnEndpoint | undefined): Candidate | undefined {
  const [first] = witnesses
  if (first === undefined) return undefined
  const { host, port } = first
  const guess = own !== undefined && isSameAddress(own, first) ? own : undefined
  // The guess has no beginning that the server knows. It is newer only than what was seen before the node moved, also where
  // the peers that see the node at the guess reported that before the node itself did.
  const guessSince = guess ? [GUESS_SINCE_MS] : []
  const since = [...witnesses.map(({ sinceMs }) => sinceMs), ...guessSince].toSorted((a, b) => b - a)
  const instants = [...witnesses.map(({ observedAtMs }) => observedAtMs), ...(guess ? [guess.reportedAtMs] : [])]
  const [newest = 0, secondNewest] = since
  const weight = {
    isConfirmed: secondNewest !== undefined,
    isLocal: isLocalHost(host),
    sinceMs: Math.max(secondNewest ?? newest, ...guessSince),
  }
  return { host, port, confirmedAtMs: Math.max(...instants), ...weight }
}

/** Orders the preferred one first. Equal ones are ordered by their text, so that every replica chooses the same. */
function byPreference(one: Candidate, other: Candidate): number {
  if (one.isConfirmed !== other.isConfirmed) return one.isConfirmed ? -1 : 1
  if (one.isLocal !== other.isLocal) return one.isLocal ? 1 : -1
  if (one.sinceMs !== other.sinceMs) return other.sinceMs - one.sinceMs
  return `${one.host} ${one.port}` < `${other.host} ${other.port}` ? -1 : 1
}
