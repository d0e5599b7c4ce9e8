/** What repeats an atom: `{2}`, `{2,}`, `{2,5}`. */
const COUNT = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y

interface Group {
  /** Characters of what is done with. */
  done: number
  /** Characters of the atom that a count after it would repeat. */
  last: number
}

const newGroup = (): Group => ({ done: 0, last: 0 })

/**
 * Characters of a regular expression once its counted repetitions are written out, as making it ready does: `(ab){1,50}`
 * are about 200. An estimate, and never less than the length by much.
 */
export function patternSize(pattern: string): number {
  const outer: Group[] = []
  let group = newGroup()
  for (let at = 0; at < pattern.length;) {
    const character = pattern.charAt(at)
    const counted = character === '{' ? countAt(pattern, at) : undefined
    if (counted !== undefined) {
      group.last *= counted.times
      at += counted.length
    } else if (character === '(') {
      outer.push(group)
      group = newGroup()
      at += 1
    } else if (character === ')') {
      const inner = group.done + group.last + 2
      group = outer.pop() ?? newGroup()
      begin(group, inner)
      at += 1
    } else {
      const length = atomLength(pattern, at)
      begin(group, length)
      at += length
    }
  }
  return [...outer, group].reduce((size, { done, last }) => size + done + last, 0)
}

function begin(group: Group, size: number): void {
  group.done += group.last
  group.last = size
}

function countAt(pattern: string, at: number): { readonly times: number; readonly length: number } | undefined {
  COUNT.lastIndex = at
  const [text, min, max] = COUNT.exec(pattern) ?? []
  return text === undefined ? undefined : { times: Math.max(1, Number(min), Number(max ?? 0)), length: text.length }
}

/** Of a class all of it, of an escape two characters at least: `\pL` stands for hundreds of ranges. */
function atomLength(pattern: string, at: number): number {
  if (pattern.charAt(at) === '\\') return 2
  if (pattern.charAt(at) !== '[') return 1
  const end = pattern.indexOf(']', at + 2)
  return (end === -1 ? pattern.length : end + 1) - at
}
