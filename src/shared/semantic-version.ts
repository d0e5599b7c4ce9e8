/** A semantic version (Semantic Versioning 2.0.0), of at most 128 characters. */
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/
const VERSION_CHARACTERS_MAX = 128

const NUMERIC = /^\d+$/

/** Whether the text is a semantic version. */
export function isSemanticVersion(text: string): boolean {
  return partsOf(text) !== undefined
}

/**
 * A text by which versions are ordered, byte by byte, as their precedence orders them (Semantic Versioning 2.0.0, 11);
 * undefined where the text is no version. Versions that differ only in their build metadata have the same one.
 */
export function precedenceOf(text: string): string | undefined {
  const parts = partsOf(text)
  if (parts === undefined) return undefined
  const [numbers, identifiers] = parts
  // A blank is before every character of an identifier, a tilde behind all of them: a release follows its pre-releases.
  const rest = identifiers === undefined ? '~' : identifiers.map(identifierKey).join(' ')
  return `${numbers.map(numberKey).join(' ')} ${rest}`
}

/** Negative where `a` precedes `b`, positive where it follows. Texts that are no versions precede all versions. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [precedenceOf(a) ?? '', precedenceOf(b) ?? '']
  if (first === second) return 0
  return first < second ? -1 : 1
}

function partsOf(text: string): readonly [readonly string[], readonly string[] | undefined] | undefined {
  if (text.length > VERSION_CHARACTERS_MAX) return undefined
  const [, major, minor, patch, preRelease] = VERSION.exec(text) ?? []
  if (major === undefined || minor === undefined || patch === undefined) return undefined
  const identifiers = preRelease?.split('.')
  const hasLeadingZero = identifiers?.some((one) => NUMERIC.test(one) && one.length > 1 && one.startsWith('0'))
  return hasLeadingZero === true ? undefined : [[major, minor, patch], identifiers]
}

/** Numbers in the order of their size: first those with fewer digits. */
function numberKey(digits: string): string {
  return `${String(digits.length).padStart(3, '0')}${digits}`
}

/** Numeric identifiers are before alphanumeric ones. */
function identifierKey(identifier: string): string {
  return NUMERIC.test(identifier) ? `0${numberKey(identifier)}` : `1${identifier}`
}
