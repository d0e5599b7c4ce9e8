/** A version by Semantic Versioning 2.0.0, without its build metadata, which has no rank. */
interface Parsed {
  readonly core: readonly string[]
  readonly pre: readonly string[]
}

/** The grammar of Semantic Versioning 2.0.0. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-z-][\da-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][\da-z-]*))*))?(?:\+[\da-z-]+(?:\.[\da-z-]+)*)?$/i

function parsed(text: string): Parsed | undefined {
  const match = SEMVER.exec(text)
  if (match === null) return undefined
  const [, major = '', minor = '', patch = '', pre] = match
  return { core: [major, minor, patch], pre: pre === undefined ? [] : pre.split('.') }
}

/** Whether a text is a version that has a rank among others (Semantic Versioning 2.0.0). */
export const isVersion = (text: string): boolean => parsed(text) !== undefined

/** Below 0 where the left version is the older one, 0 where none is. Texts without a rank are older than any version. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [parsed(left), parsed(right)]
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const byCore = compareParts(a.core, b.core)
  if (byCore !== 0) return byCore
  // A pre-release precedes its release (11.3).
  if (a.pre.length === 0 || b.pre.length === 0) return Number(a.pre.length === 0) - Number(b.pre.length === 0)
  return compareParts(a.pre, b.pre)
}

/** The first parts that differ decide; with none, the longer list is the newer one (11.4.4). */
function compareParts(left: readonly string[], right: readonly string[]): number {
  for (const [at, part] of left.entries()) {
    const other = right[at]
    const order = other === undefined ? 1 : comparePart(part, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers by their value, and before words; words by their bytes (11.4). */
function comparePart(left: string, right: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)]
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  if (isNumber && left.length !== right.length) return left.length - right.length
  if (left === right) return 0
  return left < right ? -1 : 1
}
