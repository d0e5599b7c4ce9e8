import { atTurnEnd } from '../../shared/immediate-batch.ts'

/** Sends an answer; never throws. */
export type Send = () => void

/**
 * Creates a batcher: answers wait for the end of the event loop's turn and are then sent one after another. A write that
 * wakes its sleeping reader costs the server more than the rest of the request; answers that are sent together wake it once.
 * Under light load a turn has one request, which does not wait.
 */
export function createResponseBatcher(): (send: Send) => void {
  let waiting: Send[] = []

  const leaving = atTurnEnd(() => {
    const sends = waiting
    waiting = []
    for (const send of sends) send()
  })

  return (send) => {
    waiting.push(send)
    leaving.ask()
  }
}
