/** What `--pause-on` may compare, over the nodes of the run. */
export const QUANTITIES = [
  ['unreachable', 'nodes that are unreachable'],
  ['stale', 'nodes whose heartbeats are late'],
  ['unavailable', 'nodes that are not healthy, or whose rotation has begun and not ended'],
  ['pending', 'nodes whose rotation has begun and not ended'],
  ['timeout', 'nodes that were in reach and did not end their rotation within --wave-timeout'],
  ['refused', 'nodes whose rotation the server refused'],
] as const

export type Quantity = (typeof QUANTITIES)[number][0]
export type Counts = Readonly<Record<Quantity, number>>

export const ZERO: Counts = { unreachable: 0, stale: 0, unavailable: 0, pending: 0, timeout: 0, refused: 0 }
