import type { NodeWire, PullCall } from '../calls/node-wire.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { createSnapshotReader, type ReadSnapshot } from './snapshot.ts'

/** A parsed state. Its peers are fact numbers of the book that all agents share. */
export interface PulledState {
  readonly read: ReadSnapshot
  readonly etag: string | undefined
  /** The server answered from its cache, so the state may be outdated. */
  readonly isDegraded: boolean
}

/**
 * Pulls and parses the state of a node. Resolves with undefined if the state still matches the `ETag`.
 *
 * @throws ProblemAnswer
 * @throws TransportFailure
 */
export type PullState = (call: PullCall) => Promise<PulledState | undefined>

/** Makes the pull function of a fleet whose agents share that book. */
export type PullsOver = (book: PeerBook) => PullState

/** Pulls and parses in the calling thread. */
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
