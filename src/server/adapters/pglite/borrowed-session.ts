import {
  endsTransaction,
  neverBegun,
  type OwnedSession,
  type Session,
  type SessionResult,
} from '../postgres/session.ts'

/** The interface of the engine for a borrowed session. */
export interface Lending {
  /** Resolves when it is the caller's turn, to the session for it. */
  take(): Promise<OwnedSession>
  /** Sends the last statement of the turn, and ends it. */
  sendLast(session: OwnedSession, text: string, values: readonly unknown[]): Promise<SessionResult>
  /** Undoes the transaction that is open, and ends the turn. */
  undo(session: OwnedSession): Promise<void>
}

/**
 * A session that uses the engine during its own turns, a statement or a transaction each, and not in between.
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
    return this.#lending.sendLast(await this.#lending.take(), text, values)
  }

  /** Ends an open turn. */
  async giveBack(): Promise<void> {
    const session = await this.#transaction?.catch(() => undefined)
    if (session !== undefined) await this.#lending.undo(session)
  }

  async #open(begin: string): Promise<OwnedSession> {
    const session = await this.#lending.take()
    session.begin(begin)
    this.#held = session
    return session
  }

  async #within(session: OwnedSession, text: string, values: readonly unknown[]): Promise<SessionResult> {
    if (!endsTransaction(text)) return session.query(text, values)
    await session.settled()
    // A broken one refuses, and what it began is undone when it is given back.
    if (session.broken !== undefined) return session.query(text, values)
    this.#transaction = undefined
    return this.#lending.sendLast(session, text, values)
  }
}
