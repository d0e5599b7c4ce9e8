import type { NodeWire, PullCall } from './node-wire.ts'
import type { PeerBook } from './peer-book.ts'
import { createSnapshotReader, type ReadSnapshot } from './snapshot.ts'

/** A pulled state, read. Its peers are numbers of the book that all agents share. */
export interface PulledState {
  readonly read: ReadSnapshot
  readonly etag: string | undefined
  /** It was answered from memory, and may be older than what is known. */
  readonly isDegraded: boolean
}

/**
 * Pulls the state of a node and reads it; undefined where it is still the one of that tag. Throws `ProblemAnswer` and
 * `TransportFailure`.
 */
export type PullState = (call: PullCall) => Promise<PulledState | undefined>

/** Makes the pulls of a fleet whose agents share that book. */
export type PullsOver = (book: PeerBook) => PullState

/** Pulls and reads in the thread that calls. */
export function pullsInThisThread({ pull }: Pick<NodeWire, 'pull'>): PullsOver {
  return (book) => {
    const read = createSnapshotReader(book)
    return async (call) => {
      const pulled = await pull(call)
      if (pulled === undefined) return undefined
      const { bytes, etag, isDegraded } = pulled
      return { read: read(bytes, call.nodeId), etag, isDegraded }
    }
  }
}
