import { DatastoreError, DatastoreOverloaded } from '../../ports/datastore.ts'
import { startDeadline } from '../postgres/start-deadline.ts'
import { createWaitingLine, type WaitingLine } from './waiting-line.ts'

/** Where to wait for a turn. Of those who wait, the two lines are served by turns: a long one does not hold up the other. */
export type Line = 'reserved' | 'common'

/** Orders what is asked of the engine's one session: statements and whole transactions, each when it is its turn. */
export interface EngineTurns {
  /**
   * @throws DatastoreOverloaded at once when too many wait in the line already.
   * @throws DatastoreError `unavailable` when it is not the caller's turn within so many ms.
   */
  take(line: Line, deadlineMs: number): Promise<void>
  /** Ends the turn. Others may ask already while the answer to what it asked last, which is there once `answered` resolves, is under way. */
  end(answered?: Promise<void>): void
  /** Resolves once every answer is there. */
  quiet(): Promise<void>
}

/** Turns that are over but for an answer: one that the engine works on, and one that it finds when it is done with that. */
const UNANSWERED_MAX = 2

/** Who may wait in one line: about as many as the engine serves within the deadline of a request. Later ones would wait in vain. */
const WAITING_MAX = 4_096

/** Makes the turns. In each line so many may wait. */
export function createEngineTurns(waitingMax = WAITING_MAX): EngineTurns {
  const lines: Readonly<Record<Line, WaitingLine<() => void>>> = {
    reserved: createWaitingLine(waitingMax),
    common: createWaitingLine(waitingMax),
  }
  const unanswered = new Set<Promise<void>>()
  let isTaken = false
  let last: Line = 'common'

  const isFree = (): boolean => !isTaken && unanswered.size < UNANSWERED_MAX

  function advance(): void {
    if (!isFree()) return
    const other: Line = last === 'common' ? 'reserved' : 'common'
    const line = lines[other].isEmpty() ? last : other
    const begin = lines[line].serve()
    if (begin === undefined) return
    last = line
    isTaken = true
    begin()
  }

  async function forget(answered: Promise<void>): Promise<void> {
    await answered
    unanswered.delete(answered)
    advance()
  }

  return {
    take(line, deadlineMs) {
      // Nobody waits while it is free.
      if (isFree()) {
        isTaken = true
        return Promise.resolve()
      }
      return new Promise((resolve, reject) => {
        const leave = lines[line].join(() => {
          deadline.clear()
          resolve()
        })
        if (leave === undefined)
          throw new DatastoreOverloaded(new Error(`${waitingMax} wait for the embedded datastore`))
        const deadline = startDeadline(deadlineMs, () => {
          leave()
          const cause = new Error(`the embedded datastore was busy for ${deadlineMs} ms`)
          reject(new DatastoreError('unavailable', undefined, cause))
        })
      })
    },
    end(answered) {
      isTaken = false
      if (answered !== undefined) {
        unanswered.add(answered)
        void forget(answered)
      }
      advance()
    },
    async quiet() {
      await Promise.all(unanswered)
    },
  }
}
