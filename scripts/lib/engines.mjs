/** The oldest Node that is supported: package.json names it, and a test compares both. */
export const OLDEST_NODE = [20, 19, 0]

/**
 * Whether an npm range admits the version; for the forms that packages use for their engine.
 *
 * @param {string} range such as `^20.19.0 || >=22.12.0`
 * @param {readonly number[]} version major, minor, patch
 */
export function admits(range, version = OLDEST_NODE) {
  return range.split('||').some((alternative) => {
    const terms = alternative
      .replaceAll(/([<>=^~])\s+/g, '$1')
      .split(/\s+/)
      .filter(Boolean)
    return terms.every((term) => meets(term, version))
  })
}

function meets(term, version) {
  const [, operator = '', digits = ''] = /^([<>=^~]*)v?([\d.]*)/.exec(term) ?? []
  const named = digits.split('.').filter(Boolean).map(Number)
  const order = compare(version, named)
  if (operator === '>=') return order >= 0
  if (operator === '<') return order < 0
  if (operator === '^') return order >= 0 && version[0] === named[0]
  if (operator === '~') return order >= 0 && compare(version.slice(0, 2), named.slice(0, 2)) === 0
  // A version that leaves parts out stands for all that begin so; `*` names none.
  return named.every((part, index) => part === version[index])
}

function compare(left, right) {
  const at = right.findIndex((part, index) => part !== (left[index] ?? 0))
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}
