/** Draws that a seed decides alone. */
export interface Random {
  /** A whole number from 0 up to `bound`, exclusive. */
  below(bound: number): number
  /** True in `share` of the draws. */
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
  /** Each element in `share` of the draws, in order. */
  some<T>(list: readonly T[], share: number): T[]
  shuffled<T>(list: readonly T[]): T[]
}

/** Mulberry32: small, fast and good enough to spread test data. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  const below = (bound: number): number => Math.floor(next() * bound)
  const chance = (share: number): boolean => next() < share

  return {
    below,
    chance,
    pick(list) {
      const picked = list[below(list.length)]
      if (picked === undefined) throw new RangeError('nothing to pick from')
      return picked
    },
    some: (list, share) => list.filter(() => chance(share)),
    shuffled: (list) =>
      list
        .map((element) => ({ element, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ element }) => element),
  }
}

/** The seed of one world of a campaign. */
export function seedOf(campaign: number, place: number): number {
  return Math.imul(campaign ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(place + 1, 0xc2b2ae35)
}
