import { atTurnEnd } from '../../shared/immediate-batch.ts'

/** Sends an answer; never throws. */
export type Send = () => void

/**
 * Makes a place where answers wait for the end of the event loop's turn, and then leave one after another. A write that
 * wakes its sleeping reader costs the server more than the rest of the request; answers that leave together wake it once.
 * Under light load a turn has one request, and it waits for nobody.
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
