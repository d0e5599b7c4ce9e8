/** The requests to the node in a heartbeat's answer. */
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

const ZERO = '0'.charCodeAt(0)

/** Places in a batch, from 1, with commas between them; null: none. */
type Places = string | null

/** The hints of each heartbeat of a batch, in its order: most have none, and none needs an object of its own. */
export function hintsOf(size: number, marked: { readonly reconcile: Places; readonly rotate: Places }) {
  const hints: (HeartbeatHints | undefined)[] = []
  while (hints.length < size) hints.push(NO_HINTS)
  for (const at of indexesOf(marked.reconcile)) hints[at] = RECONCILE
  for (const at of indexesOf(marked.rotate)) hints[at] = hints[at] === RECONCILE ? BOTH : ROTATE_KEYS
  return hints
}

/** Parses the places into indexes; digit by digit, since a whole fleet may be behind at once. */
export function indexesOf(places: Places): readonly number[] {
  const indexes: number[] = []
  if (places === null) return indexes
  let place = 0
  for (let at = 0; at < places.length; at++) {
    const digit = places.charCodeAt(at) - ZERO
    if (digit >= 0) {
      place = place * 10 + digit
      continue
    }
    indexes.push(place - 1)
    place = 0
  }
  indexes.push(place - 1)
  return indexes
}
