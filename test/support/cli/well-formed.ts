/** Whether every element that is opened is closed, in order, and nothing stands between quotes that ends them. */
export function isWellFormed(text: string): boolean {
  const open: string[] = []
  const tag = /<(\/?)([a-z]+)((?:\s[\w-]+(?::\w+)?="[^"<]*")*)\s*(\/?)>|[^<]+/gy
  let at = 0
  for (const found of text.matchAll(tag)) {
    if (found.index !== at) return false
    at = found.index + found[0].length
    const [, closing, name, , alone] = found
    if (name === undefined) continue
    if (closing === '/' && open.pop() !== name) return false
    if (closing !== '/' && alone !== '/') open.push(name)
  }
  return at === text.length && open.length === 0
}
