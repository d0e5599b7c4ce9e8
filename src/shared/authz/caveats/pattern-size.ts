/** A counted repetition of an atom: `{2}`, `{2,}`, `{2,5}`. */
const COUNT = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y

interface Group {
  /** Characters before the last atom. */
  done: number
  /** Characters of the last atom, which a count after it repeats. */
  last: number
}

const newGroup = (): Group => ({ done: 0, last: 0 })

/**
 * Characters of a regular expression once its counted repetitions are written out, as making it ready does: `(ab){1,50}`
 * are about 200. An estimate.
 */
export function patternSize(pattern: string): number {
  const groups = [newGroup()]
  for (let at = 0; at < pattern.length;) at += takePiece(pattern, at, groups)
  return groups.reduce((size, group) => size + sizeOf(group), 0)
}

/** Takes the piece into the innermost group, which is the last. Tells how long the piece is. */
function takePiece(pattern: string, at: number, groups: Group[]): number {
  const innermost = groups.at(-1) ?? newGroup()
  const counted = countAt(pattern, at)
  if (counted !== undefined) {
    innermost.last *= counted.times
    return counted.length
  }
  const character = pattern.charAt(at)
  // A bracket too many is an atom: a caller that makes the expression ready refuses it.
  if (character === '(') groups.push(newGroup())
  else if (character === ')' && groups.length > 1) closeGroup(groups)
  else append(innermost, atomLength(pattern, at))
  return character === '(' || character === ')' ? 1 : atomLength(pattern, at)
}

/** Makes the innermost group, with its brackets, the last atom of the one around it. */
function closeGroup(groups: Group[]): void {
  const closed = groups.pop() ?? newGroup()
  append(groups.at(-1) ?? newGroup(), sizeOf(closed) + 2)
}

const sizeOf = ({ done, last }: Group): number => done + last

function append(group: Group, size: number): void {
  group.done += group.last
  group.last = size
}

function countAt(pattern: string, at: number): { readonly times: number; readonly length: number } | undefined {
  COUNT.lastIndex = at
  const [text, min, max] = COUNT.exec(pattern) ?? []
  return text === undefined ? undefined : { times: Math.max(1, Number(min), Number(max ?? 0)), length: text.length }
}

/** A class counts whole, an escape at least as two characters: `\pL` represents hundreds of ranges. */
function atomLength(pattern: string, at: number): number {
  if (pattern.charAt(at) === '\\') return 2
  if (pattern.charAt(at) !== '[') return 1
  const end = pattern.indexOf(']', at + 2)
  return (end === -1 ? pattern.length : end + 1) - at
}
