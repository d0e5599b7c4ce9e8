/** The nodes of one Domain in one process. */
export interface DomainShare {
  /** Id of the Domain; undefined: that of the join token. */
  readonly id: string | undefined
  readonly nodes: number
}

export interface Division {
  readonly nodes: number
  readonly domains: readonly (string | undefined)[]
  readonly workers: number
}

/**
 * Divides the nodes evenly among the Domains, and these among the processes. A Domain is in one process where there are at least as
 * many Domains as processes. A process without a node is left out.
 */
export function divide({ nodes, domains, workers }: Division): readonly (readonly DomainShare[])[] {
  const sizes = evenly(nodes, domains.length)
  const shares = Array.from({ length: workers }, (): DomainShare[] => [])
  for (const [index, id] of domains.entries()) {
    const places = placesOf(index, { domains: domains.length, workers })
    const parts = evenly(sizes[index] ?? 0, places.length)
    for (const [at, place] of places.entries()) shares[place]?.push({ id, nodes: parts[at] ?? 0 })
  }
  return shares.map((share) => share.filter((part) => part.nodes > 0)).filter((share) => share.length > 0)
}

/** The processes that have nodes of a Domain. */
function placesOf(index: number, { domains, workers }: { readonly domains: number; readonly workers: number }) {
  if (domains >= workers) return [index % workers]
  return Array.from({ length: workers }, (_, place) => place).filter((place) => place % domains === index)
}

/** The first parts have one more where it does not come out even. */
function evenly(whole: number, parts: number): readonly number[] {
  return Array.from({ length: parts }, (_, index) => Math.floor(whole / parts) + (index < whole % parts ? 1 : 0))
}

/** Number of nodes of a share. */
export function sizeOf(share: readonly DomainShare[]): number {
  return share.reduce((sum, { nodes }) => sum + nodes, 0)
}
