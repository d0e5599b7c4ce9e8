import { isPskIssuedAt } from './psk-instant.ts'

/**
 * Which keys an edge's key derives from, as the node at one end sees it: the instants of its own preshared key and of the
 * peer's, as `formatPskIssuedAt` writes them. The other end sees the same with the halves exchanged.
 */
export interface EdgeEpoch {
  readonly own: string
  readonly peer: string
}

/**
 * Order of two epochs of the same end of the same edge. `newer`: no half is older and one is newer; `older`: the
 * other way round; `mixed`: one half is newer and the other one older, which happens only if an answer belongs to another
 * edge or mixes two answers.
 */
export type EpochOrder = 'older' | 'equal' | 'newer' | 'mixed'

/** `<own>|<peer>`: the value of `X-Service-PSK-Epoch` for the node whose half comes first. */
export function formatEdgeEpoch({ own, peer }: EdgeEpoch): string {
  return `${own}|${peer}`
}

/** Reads `<own>|<peer>`; undefined where it is anything but two instants of fixed width. */
export function parseEdgeEpoch(text: string): EdgeEpoch | undefined {
  const [own = '', peer = '', ...more] = text.split('|')
  return more.length === 0 && isPskIssuedAt(own) && isPskIssuedAt(peer) ? { own, peer } : undefined
}

/** Compares `epoch` with `other`. Both belong to one end of one edge. */
export function compareEdgeEpochs(epoch: EdgeEpoch, other: EdgeEpoch): EpochOrder {
  const own = compareTexts(epoch.own, other.own)
  const peer = compareTexts(epoch.peer, other.peer)
  if (own === 0 && peer === 0) return 'equal'
  if (own >= 0 && peer >= 0) return 'newer'
  return own <= 0 && peer <= 0 ? 'older' : 'mixed'
}

/**
 * Whether an agent may put the offered epoch in force (S0 Edge preshared-key envelope, decisions: Keys). The epoch in force
 * may be offered again: it is the same key.
 */
export function isEpochAcceptable(offered: EdgeEpoch, inForce: EdgeEpoch | undefined): boolean {
  if (inForce === undefined) return true
  const order = compareEdgeEpochs(offered, inForce)
  return order === 'newer' || order === 'equal'
}

/** Instants of fixed width compare as their texts do. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
