/** An equal line is written again after this time. */
const AGAIN_MS = 600_000
/** So many different lines are remembered. */
const LINES_MAX = 256

interface Seen {
  readonly atMs: number
  /** How often it came since, without being written. */
  left: number
}

function more({ atMs, left }: Seen): string {
  return `and ${left} times more since ${new Date(atMs).toISOString()}`
}

/** Writes equal lines once in ten minutes, with how often they came meanwhile: a server that refuses everything must not fill the disk. */
export function createPacedLines(write: (line: string) => void, now: () => number): (line: string) => void {
  const seen = new Map<string, Seen>()
  return (line) => {
    const before = seen.get(line)
    if (before !== undefined && now() - before.atMs < AGAIN_MS) {
      before.left += 1
      return
    }
    write(before === undefined || before.left === 0 ? line : `${line}, ${more(before)}`)
    seen.delete(line)
    // The oldest one goes: a server could make up codes without end.
    const [oldest] = seen.keys()
    if (seen.size >= LINES_MAX && oldest !== undefined) seen.delete(oldest)
    seen.set(line, { atMs: now(), left: 0 })
  }
}
