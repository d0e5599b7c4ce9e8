/** An equal line is written again after this time. */
const AGAIN_MS = 600_000
/** So many different lines are remembered. */
const LINES_MAX = 256

/** Writes equal lines once in ten minutes, with how often they came meanwhile: a server that refuses everything must not fill the disk. */
export function createPacedLines(write: (line: string) => void, now: () => number): (line: string) => void {
  const seen = new Map<string, { readonly atMs: number; left: number }>()
  return (line) => {
    const before = seen.get(line)
    if (before !== undefined && now() - before.atMs < AGAIN_MS) {
      before.left += 1
      return
    }
    const left = before?.left ?? 0
    write(left === 0 ? line : `${line}, and ${left} times more since ${new Date(before?.atMs ?? 0).toISOString()}`)
    // The oldest ones go: a server could make up codes without end.
    const [oldest] = seen.keys()
    if (seen.size >= LINES_MAX && before === undefined && oldest !== undefined) seen.delete(oldest)
    seen.set(line, { atMs: now(), left: 0 })
  }
}
