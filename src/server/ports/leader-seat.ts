import type { Leading } from './leadership.ts'

/** Where a process competes for leadership: a lock that one process of a deployment holds. */
export interface LeaderSeat {
  /**
   * Takes the lock, or finds that it still has it. False while another process has it.
   * @throws DatastoreError when the question had no answer: the seat is to be left then, and the lock with it.
   */
  hold(): Promise<boolean>
  /** Aborted when the connection is gone, and the lock with it. */
  readonly gone: AbortSignal
  /** Gives the lock back and closes the connection. */
  leave(): Promise<void>
}

/** The place of leadership, and the word that anyone who leads has new outbox rows to look at. */
export interface SeatPlace {
  /** Opens a seat; `onHint` is called with hints while it is open. @throws DatastoreError while the datastore is away. */
  openSeat(onHint: () => void): Promise<LeaderSeat>
  /** To be called after a commit that appended outbox rows. Returns at once. A hint may get lost: polling finds the rows. */
  giveHint(): void
}

/** What a process needs to stand for leadership. */
export interface Candidacy {
  openSeat: SeatPlace['openSeat']
  /**
   * Begins a term, which ends every earlier one: waits for transactions of the last leader that run, and fences those
   * that come late. The seat must be held meanwhile and as long as the term is used.
   */
  takeTerm(signal: AbortSignal): Promise<Leading>
}
