import {
  endsTransaction,
  neverBegun,
  type OwnedSession,
  type Session,
  type SessionResult,
} from '../postgres/session.ts'

/** The interface of the engine for a borrowed session. */
export interface Lending {
  /** Resolves with the engine's session when it is free. */
  acquire(): Promise<OwnedSession>
  /** Sends the last statement, and releases the session. */
  sendLast(session: OwnedSession, text: string, values: readonly unknown[]): Promise<SessionResult>
  /** Rolls the open transaction back, and releases the session. */
  undo(session: OwnedSession): Promise<void>
}

/**
 * A session that holds the engine's session only during a statement or a transaction, and not in between.
 * A class to save memory: each statement has one.
 */
export class BorrowedSession implements Session {
  readonly #lending: Lending
  #opening: string | undefined
  #transaction: Promise<OwnedSession> | undefined
  #held: OwnedSession | undefined

  constructor(lending: Lending) {
    this.#lending = lending
  }

  get broken(): unknown {
    return this.#held?.broken
  }

  begin(text: string): void {
    this.#opening = text
  }

  spoil(reason: unknown): void {
    this.#held?.spoil(reason)
  }

  async query(text: string, values: readonly unknown[]): Promise<SessionResult> {
    const begin = this.#opening
    this.#opening = undefined
    if (begin !== undefined && !endsTransaction(text)) this.#transaction = this.#open(begin)
    if (this.#transaction !== undefined) return this.#within(await this.#transaction, text, values)
    // The transaction was never begun, or a failed commit has ended it: other sessions use the engine.
    if (endsTransaction(text)) return neverBegun(text)
    return this.#lending.sendLast(await this.#lending.acquire(), text, values)
  }

  /** Releases the engine's session if it is held. */
  async giveBack(): Promise<void> {
    const session = await this.#transaction?.catch(() => undefined)
    if (session !== undefined) await this.#lending.undo(session)
  }

  async #open(begin: string): Promise<OwnedSession> {
    const session = await this.#lending.acquire()
    session.begin(begin)
    this.#held = session
    return session
  }

  async #within(session: OwnedSession, text: string, values: readonly unknown[]): Promise<SessionResult> {
    if (!endsTransaction(text)) return session.query(text, values)
    await session.settled()
    // A broken session refuses the statement; its transaction is rolled back in `giveBack`.
    if (session.broken !== undefined) return session.query(text, values)
    this.#transaction = undefined
    return this.#lending.sendLast(session, text, values)
  }
}
