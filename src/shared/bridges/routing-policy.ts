import { canonicalize } from '../canonical-json.ts'

/** Bytes of canonical JSON of a provider's routing policy (decisions: Bridge). */
const BYTES_MAX = 4096
/** Levels of objects and arrays, the policy itself included. */
const DEPTH_MAX = 32

/** The rule that a routing policy breaks, as `must …`; undefined for a policy that can be stored. */
export function routingPolicyFault(policy: unknown): string | undefined {
  // Asked first: a body has room for more levels than the stack of a recursive function.
  if (isDeeperThan(policy, DEPTH_MAX)) return `must be at most ${DEPTH_MAX} levels deep`
  const text = canonicalText(policy)
  if (text === undefined) return 'must hold only numbers in the range of a double'
  const bytes = new TextEncoder().encode(text).length
  return bytes > BYTES_MAX ? `must be at most ${BYTES_MAX} bytes of JSON` : undefined
}

function canonicalText(policy: unknown): string | undefined {
  try {
    return canonicalize(policy)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function isDeeperThan(value: unknown, max: number): boolean {
  let level = [value].filter(isContainer)
  for (let depth = 0; depth < max; depth++) level = level.flatMap((each) => Object.values(each).filter(isContainer))
  return level.length > 0
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
