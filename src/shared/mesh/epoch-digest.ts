import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** The key under which agents report the digest of their epochs (decisions: Proof of a rotation wave). */
export const EDGE_EPOCHS_KEY = 'mesh.edge-epochs'

/** An agent's report about the epochs that it uses. */
export interface EpochReport {
  /** Edges of the node. */
  readonly count: number
  /** 64 hex digits. */
  readonly sha256: string
}

/** Incremental SHA-256 over texts. */
export interface RunningSha256 {
  update(text: string): void
  hex(): string
}

/** Digests the edges of one node one by one. Two digests are equal exactly when the same edges have the same epochs. */
export interface EpochDigest {
  /**
   * Adds an edge: the peer's id as a lower-case UUID, and the epoch as the node itself has it (`formatEdgeEpoch`).
   *
   * @throws RangeError where a peer does not come after the one before it by id.
   */
  add(peerId: string, epoch: string): void
  /** Finishes the digest. */
  report(): EpochReport
}

/**
 * Digests the lines `<peer id>|<epoch>\n`, by peer id. `running` is the platform's SHA-256; default: noble's,
 * which runs everywhere and is slower.
 */
export function createEpochDigest(running: RunningSha256 = runningNoble()): EpochDigest {
  let count = 0
  let last = ''
  return {
    add(peerId, epoch) {
      if (peerId <= last) throw new RangeError('peers are added by id, each once')
      last = peerId
      count += 1
      running.update(`${peerId}|${epoch}\n`)
    },
    report: () => ({ count, sha256: running.hex() }),
  }
}

/** Digests epochs by peer id, in any order. */
export function digestEpochs(epochs: ReadonlyMap<string, string>): EpochReport {
  const digest = createEpochDigest()
  const byPeer = [...epochs].toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const [peerId, epoch] of byPeer) digest.add(peerId, epoch)
  return digest.report()
}

function runningNoble(): RunningSha256 {
  const hash = sha256.create()
  return { update: (text) => void hash.update(utf8ToBytes(text)), hex: () => bytesToHex(hash.digest()) }
}
