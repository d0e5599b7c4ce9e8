import type { PeerMark } from './peer-marks-store.ts'

export interface PeerMarksDeps {
  /** Grouped by Domain, the newest first. */
  readonly read: () => Promise<readonly PeerMark[]>
  /** Called with the first of several failures to read them: nodes that are due are asked to pull later. */
  readonly onFailure: (error: unknown) => void
}

/** Finds the revision of its peers that a node should have by now. */
export interface PeerMarks {
  /** The revision that the node should have pulled by then; 0 where it is unknown. */
  dueOf(node: { readonly domainId: string; readonly nodeId: string }, nowMs: number): number
  /** Reads the marks, now and periodically. Resolves after the first attempt. */
  start(): Promise<void>
  stop(): void
}

const READ_EVERY_MS = 15_000
/** How long a node may be behind: the event about the change leaves within a second. */
const BEHIND_MS = 5 * 60 * 1000
/** Spread, after that, of the requests to pull to the nodes of one Domain, so that not all pull at once. */
const SPREAD_MS = 60_000
const SPREAD_STEPS = 256

const NO_MARKS: readonly PeerMark[] = []

export function createPeerMarks({ read, onFailure }: PeerMarksDeps): PeerMarks {
  let marks: ReadonlyMap<string, readonly PeerMark[]> = new Map()
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined

  async function refresh(): Promise<void> {
    try {
      marks = byDomain(await read())
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onFailure(error)
      hasFailed = true
    }
  }

  return {
    dueOf({ domainId, nodeId }, nowMs) {
      const known = marks.get(domainId) ?? NO_MARKS
      const atMs = nowMs - BEHIND_MS - spreadOf(nodeId)
      for (const mark of known) if (mark.atMs <= atMs) return mark.revision
      return 0
    },
    async start() {
      timer ??= setInterval(() => void refresh(), READ_EVERY_MS).unref()
      await refresh()
    },
    stop: () => clearInterval(timer),
  }
}

function byDomain(marks: readonly PeerMark[]): ReadonlyMap<string, readonly PeerMark[]> {
  const grouped = new Map<string, PeerMark[]>()
  for (const mark of marks) {
    const group = grouped.get(mark.domainId)
    if (group === undefined) grouped.set(mark.domainId, [mark])
    else group.push(mark)
  }
  return grouped
}

/** A node's own share of the spread, in ms: its id ends in random digits. */
function spreadOf(nodeId: string): number {
  const step = hexDigit(nodeId.charCodeAt(nodeId.length - 1)) * 16 + hexDigit(nodeId.charCodeAt(nodeId.length - 2))
  return (step * SPREAD_MS) / SPREAD_STEPS
}

/** Parses a hex digit without creating a string: every heartbeat needs it. */
function hexDigit(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57
}
