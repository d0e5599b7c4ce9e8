import { canonicalize } from '../../../shared/canonical-json.ts'

/**
 * The canonical JSON (RFC 8785) of what a server has sent; undefined where it has none: a lone surrogate, a number out of range, or
 * lists that are nested deeper than the stack of this process.
 */
export function canonicalTextOf(value: unknown): string | undefined {
  try {
    return canonicalize(value)
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined
    throw error
  }
}
