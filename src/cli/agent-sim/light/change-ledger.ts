/** A change of an endpoint that is under way. */
export interface AnnouncedChange {
  /** The server has accepted it. The time until it is delivered begins. */
  accepted(nowMs: number): void
  /** The server has refused it: it is not waited for. */
  refused(): void
}

export interface LedgerOptions {
  /** Number of members now. */
  readonly members: () => number
  /** Whether the event stream of a member is open. */
  readonly isListening: (member: number) => boolean
  /** Called once with each change that every open stream has received: the time from its acceptance, in ms. */
  readonly onDelivered: (elapsedMs: number) => void
  /** Called once with each change that a stream has not received in time. */
  readonly onUndelivered: () => void
}

/** Which streams of a Domain have received which endpoint changes. Members are numbered from 0. */
export interface ChangeLedger {
  /** A node changes its endpoint. The other streams that are open now are waited for. */
  announce(change: { readonly nodeId: string; readonly endpoint: string; readonly by: number }): AnnouncedChange
  /** A hint of a peer arrived. Returns the number of changes that the stream receives with it, newest and merged ones. */
  receive(member: number, peer: { readonly nodeId: string; readonly endpoint: string }, nowMs: number): number
  /** A state was pulled with a request that was sent at `sentMs`: it covers the changes that were accepted before. */
  pulled(member: number, sentMs: number, nowMs: number): void
  /** A stream has ended for good and is not waited for. */
  leave(member: number): void
  /** Ends the wait for changes that are older than 90 s. */
  expire(nowMs: number): void
  /** Number of changes that are waited for. */
  size(): number
}

/** Time within which every stream is to have received a change. */
export const DELIVERY_MS_MAX = 90_000

interface Change {
  readonly nodeId: string
  readonly endpoint: string
  /** Undefined before the answer. */
  acceptedMs: number | undefined
  lastDeliveredMs: number
  /** By member: 1 once it has received the change, or need not. */
  readonly received: Uint8Array
  waiting: number
}

/** Makes an empty ledger. */
export function createChangeLedger({ members, isListening, onDelivered, onUndelivered }: LedgerOptions): ChangeLedger {
  /** In order of their beginning. */
  const changes = new Set<Change>()
  const byNode = new Map<string, Change[]>()

  function remove(change: Change): void {
    changes.delete(change)
    const left = byNode.get(change.nodeId)?.filter((one) => one !== change) ?? []
    if (left.length === 0) byNode.delete(change.nodeId)
    else byNode.set(change.nodeId, left)
  }

  function endIfDelivered(change: Change): void {
    const { acceptedMs, waiting, lastDeliveredMs } = change
    if (acceptedMs === undefined || waiting > 0 || !changes.has(change)) return
    remove(change)
    onDelivered(Math.max(0, lastDeliveredMs - acceptedMs))
  }

  /** Returns whether the member had not received it. */
  function mark(change: Change, member: number, nowMs: number): boolean {
    if (change.received[member] !== 0) return false
    change.received[member] = 1
    change.waiting -= 1
    change.lastDeliveredMs = nowMs
    endIfDelivered(change)
    return true
  }

  return {
    announce({ nodeId, endpoint, by }) {
      const received = Uint8Array.from({ length: members() }, (_, member) =>
        member !== by && isListening(member) ? 0 : 1,
      )
      const waiting = received.reduce((sum, one) => sum + 1 - one, 0)
      const change: Change = { nodeId, endpoint, acceptedMs: undefined, lastDeliveredMs: 0, received, waiting }
      if (waiting === 0) return { accepted: () => undefined, refused: () => undefined }
      changes.add(change)
      byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), change])
      return {
        accepted(nowMs) {
          change.acceptedMs = nowMs
          endIfDelivered(change)
        },
        refused: () => remove(change),
      }
    },
    receive(member, { nodeId, endpoint }, nowMs) {
      const own = byNode.get(nodeId) ?? []
      const newest = own.findLastIndex((change) => change.endpoint === endpoint)
      // A hint has the newest facts of a peer, so it covers the changes before them.
      return own.slice(0, newest + 1).filter((change) => mark(change, member, nowMs)).length
    },
    pulled(member, sentMs, nowMs) {
      for (const change of changes) {
        if (change.acceptedMs !== undefined && change.acceptedMs <= sentMs) mark(change, member, nowMs)
      }
    },
    leave(member) {
      for (const change of changes) mark(change, member, change.lastDeliveredMs)
    },
    expire(nowMs) {
      for (const change of changes) {
        if (change.acceptedMs === undefined || nowMs - change.acceptedMs < DELIVERY_MS_MAX) continue
        remove(change)
        onUndelivered()
      }
    },
    size: () => changes.size,
  }
}
