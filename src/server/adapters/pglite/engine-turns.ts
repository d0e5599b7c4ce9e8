import { DatastoreError, DatastoreOverloaded } from '../../ports/datastore.ts'
import { startDeadline } from '../postgres/start-deadline.ts'
import { createWaitingLine, type WaitingLine } from './waiting-line.ts'

/** The line in which a caller waits for its turn. The two lines are served alternately: a long one does not delay the other. */
export type Line = 'reserved' | 'common'

/** Orders the use of the engine's only session: statements and whole transactions, one after another. */
export interface EngineTurns {
  /**
   * @throws DatastoreOverloaded at once when the line is full.
   * @throws DatastoreError `unavailable` when the caller's turn does not come within the given ms.
   */
  take(line: Line, deadlineMs: number): Promise<void>
  /** Ends the turn. Others may ask already while the answer to what it asked last, which is there once `answered` resolves, is under way. */
  end(answered?: Promise<void>): void
  /** Resolves once every answer is there. */
  quiet(): Promise<void>
}

/** Turns that are over but for an answer: one that the engine works on, and one that it finds when it is done with that. */
const UNANSWERED_MAX = 2

/** Who may wait in one line: about as many as the engine serves within the deadline of a request. Later ones would time out. */
const WAITING_MAX = 4_096

/** Creates the turns, with the maximum length of each line. */
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
