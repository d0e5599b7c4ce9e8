/** The schedule of a signing key of the provider. */
export interface ScheduledKey {
  readonly kid: string
  readonly alg: string
  readonly createdAtMs: number
}

/** How long a new key is published before it signs: relying parties keep a key set for an hour at most. */
export const PUBLISHED_AHEAD_MS = 3_600_000
/** Age of the newest key at which the next one is created. */
export const ROTATED_EVERY_MS = 90 * 86_400_000
/** How long a key is published after the next one signs: far longer than the lifetime of its ID tokens. */
export const KEPT_AFTER_MS = 2 * 3_600_000

/** When the key begins to sign; only the first one of an algorithm does so earlier. */
const startMs = ({ createdAtMs }: ScheduledKey): number => createdAtMs + PUBLISHED_AHEAD_MS

const byAge = (one: ScheduledKey, other: ScheduledKey): number =>
  one.createdAtMs - other.createdAtMs || one.kid.localeCompare(other.kid)

/** The keys of one algorithm, oldest first. */
function generations<K extends ScheduledKey>(keys: readonly K[]): readonly (readonly K[])[] {
  const algorithms = [...new Set(keys.map(({ alg }) => alg))].toSorted()
  return algorithms.map((alg) => keys.filter((key) => key.alg === alg).toSorted(byAge))
}

function signing<K extends ScheduledKey>(ofOne: readonly K[], nowMs: number): K | undefined {
  return ofOne.findLast((key) => startMs(key) <= nowMs) ?? ofOne[0]
}

/** The keys by algorithm, of each first the one that signs now: the provider uses the first match. */
export function inTurn<K extends ScheduledKey>(keys: readonly K[], nowMs: number): readonly K[] {
  return generations(keys).flatMap((ofOne) => {
    const first = signing(ofOne, nowMs)
    return first === undefined ? [] : [first, ...ofOne.filter((key) => key !== first)]
  })
}

/** Whether it is time for the next keys. */
export function isRotationDue(keys: readonly ScheduledKey[], nowMs: number): boolean {
  return keys.length > 0 && keys.every(({ createdAtMs }) => createdAtMs + ROTATED_EVERY_MS <= nowMs)
}

/** The keys that no valid token needs any more. */
export function retiredOf<K extends ScheduledKey>(keys: readonly K[], nowMs: number): readonly K[] {
  return generations(keys).flatMap((ofOne) =>
    ofOne.filter((_key, index) => ofOne.slice(index + 1).some((next) => startMs(next) + KEPT_AFTER_MS <= nowMs)),
  )
}
