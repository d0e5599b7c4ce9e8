/** A list of the state, such as policies, of all agents of the process: equal ones are parsed, verified and stored once. */
export interface BlockBook<Given extends object, Read> {
  /** The list of a pull, from the text that the snapshot has. The reader of snapshots has checked its shape. */
  readonly given: (text: string) => readonly Given[]
  /** What was read of one of its members. */
  readonly read: (given: Given) => Read
}

/** Makes an empty book, which remembers this number of texts at most. */
export function createBlockBook<Given extends object, Read>(
  read: (given: Given) => Read,
  textsMax: number,
): BlockBook<Given, Read> {
  const lists = new Map<string, readonly Given[]>()
  const known = new WeakMap<Given, { readonly read: Read }>()
  return {
    given(text) {
      const seen = lists.get(text)
      if (seen !== undefined) return seen
      const list = JSON.parse(text) as readonly Given[]
      if (lists.size >= textsMax) lists.clear()
      lists.set(text, list)
      return list
    },
    read(given) {
      const seen = known.get(given) ?? { read: read(given) }
      known.set(given, seen)
      return seen.read
    },
  }
}
