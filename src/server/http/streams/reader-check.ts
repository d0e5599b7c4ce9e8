import type { Reauthorization } from '../request-context.ts'
import { isOutage } from './outage.ts'

/** How long a stream continues while its authorization cannot be checked, ms (decisions: Stream). */
const UNCONFIRMED_MS = 300_000

/** Called when a reader may not go on: `refused` with why, or `unconfirmed` where nothing could be asked for five minutes. */
export type OnLost = (reason: 'refused' | 'unconfirmed', error: unknown) => void

/** Checks again and again that the reader of a stream is still authorized (S0 Events: NSK re-check). A class to save memory. */
export class ReaderCheck {
  readonly #reauthorization: Reauthorization
  readonly #onLost: OnLost
  #unconfirmedSinceMs: number | undefined

  constructor(reauthorization: Reauthorization, onLost: OnLost) {
    this.#reauthorization = reauthorization
    this.#onLost = onLost
  }

  /** Asks once; `nowMs` is of a monotonic clock. */
  confirm(nowMs: number): void {
    const refused = (error: unknown): void => this.#failed(error, nowMs)
    const confirmed = (): void => {
      this.#unconfirmedSinceMs = undefined
    }
    try {
      const answer = this.#reauthorization.confirm()
      if (answer instanceof Promise) void answer.then(confirmed, refused)
      else confirmed()
    } catch (error) {
      refused(error)
    }
  }

  #failed(error: unknown, nowMs: number): void {
    if (!isOutage(error)) return this.#onLost('refused', error)
    this.#unconfirmedSinceMs ??= nowMs
    if (nowMs - this.#unconfirmedSinceMs >= UNCONFIRMED_MS) this.#onLost('unconfirmed', error)
  }
}
