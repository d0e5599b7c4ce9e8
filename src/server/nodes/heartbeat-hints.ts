/** What a heartbeat's answer asks of the node. */
export interface HeartbeatHints {
  /** It should pull its state: it never did, or it is behind. */
  readonly reconcile: boolean
  /** A key rotation waits for it. */
  readonly rotate_keys: boolean
}

export const NO_HINTS: HeartbeatHints = Object.freeze({ reconcile: false, rotate_keys: false })
export const RECONCILE: HeartbeatHints = Object.freeze({ reconcile: true, rotate_keys: false })
const ROTATE_KEYS: HeartbeatHints = Object.freeze({ reconcile: false, rotate_keys: true })
const BOTH: HeartbeatHints = Object.freeze({ reconcile: true, rotate_keys: true })

/** Places in a batch, from 1, with commas between them; null: none. */
type Places = string | null

/** The hints of each heartbeat of a batch, in its order: most are told nothing, and none needs an object of its own. */
export function hintsOf(size: number, marked: { readonly reconcile: Places; readonly rotate: Places }) {
  const hints: (HeartbeatHints | undefined)[] = []
  while (hints.length < size) hints.push(NO_HINTS)
  for (const at of indexesOf(marked.reconcile)) hints[at] = RECONCILE
  for (const at of indexesOf(marked.rotate)) hints[at] = hints[at] === RECONCILE ? BOTH : ROTATE_KEYS
  return hints
}

/** The indexes that the places stand for. */
export function indexesOf(places: Places): readonly number[] {
  return places === null ? [] : places.split(',').map((place) => Number(place) - 1)
}
