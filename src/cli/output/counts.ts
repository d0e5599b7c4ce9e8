/** How many names a sentence lists; the others are counted. */
const NAMED_MAX = 10

/** `web-1, web-2 and 3 more`. */
export function namedSome(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_MAX).join(', ')
  return names.length > NAMED_MAX ? `${shown} and ${names.length - NAMED_MAX} more` : shown
}

/** `1 node`, `12 nodes`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`
}
