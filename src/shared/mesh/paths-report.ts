/** The key under which agents report how packets reach their peers. */
export const PATHS_KEY = 'mesh.paths'

/**
 * How packets reach the peers of a node. Peers are named by the last 12 digits of their ids. One that is in neither list has no
 * session, unless the lists are cut.
 */
export interface PathsReport {
  readonly direct: readonly string[]
  /** By the `address:port` of the relay. */
  readonly relayed: Readonly<Record<string, readonly string[]>>
  /** More peers have a session than the report has room for. */
  readonly is_cut: boolean
}

/** How a node reaches one of its peers. */
export type ReportedPath = 'direct' | 'relayed' | 'none'

/** A peer with a session; `relay`: by the relay with that `address:port`. */
export interface ReachedPeer {
  readonly nodeId: string
  readonly relay: string | undefined
}

/** The largest value of a state report is 4,096 bytes, and one peer of a report takes 15; this leaves room for what is around. */
const PEERS_MAX = 240
const RELAYS_MAX = 8
const DIGITS = 12

/** Writes a report. Peers that are relayed come first, since the others are what one expects. */
export function pathsReport(reached: readonly ReachedPeer[]): PathsReport {
  const isRelayed = (peer: ReachedPeer): boolean => peer.relay !== undefined
  const ordered = reached.toSorted(
    (one, other) => Number(isRelayed(other)) - Number(isRelayed(one)) || order(one, other),
  )
  const relays = [...new Set(ordered.flatMap(({ relay }) => relay ?? []))].slice(0, RELAYS_MAX)
  const shown = ordered.filter(({ relay }) => relay === undefined || relays.includes(relay)).slice(0, PEERS_MAX)
  const idsOf = (of: string | undefined): readonly string[] =>
    shown.filter(({ relay }) => relay === of).map(({ nodeId }) => shortId(nodeId))
  return {
    direct: idsOf(undefined),
    relayed: Object.fromEntries(relays.map((relay) => [relay, idsOf(relay)])),
    is_cut: shown.length < reached.length,
  }
}

/** Reads a report; undefined where it has another form, so that nothing is known. */
export function readPathsReport(json: string): ((nodeId: string) => ReportedPath | null) | undefined {
  const value: unknown = JSON.parse(json)
  if (!isReport(value)) return undefined
  const direct = new Set(value.direct)
  const relayed = new Set(Object.values(value.relayed).flat())
  return (nodeId) => {
    const id = shortId(nodeId)
    if (relayed.has(id)) return 'relayed'
    if (direct.has(id)) return 'direct'
    return value.is_cut ? null : 'none'
  }
}

function isReport(value: unknown): value is PathsReport {
  if (typeof value !== 'object' || value === null) return false
  const { direct, relayed, is_cut: isCut } = value as Readonly<Record<string, unknown>>
  if (typeof isCut !== 'boolean' || typeof relayed !== 'object' || relayed === null) return false
  return [direct, ...Object.values(relayed)].every(areTexts)
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function order({ nodeId: one }: ReachedPeer, { nodeId: other }: ReachedPeer): number {
  return one < other ? -1 : 1
}

function shortId(nodeId: string): string {
  return nodeId.slice(-DIGITS)
}
