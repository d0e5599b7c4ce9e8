import type { ToWorker } from './messages.ts'

/** A worker that waits for the start of the measured time. */
export interface Releasable {
  readonly child: { readonly connected: boolean; readonly send: (message: ToWorker) => unknown }
  isReady: boolean
  isReleased: boolean
}

/**
 * Starts the measured time once no worker that still runs has nodes to enrol. Each worker is released once: to write to one
 * that is about to end is an error of its process, and the run would fail at its end.
 */
export function release(workers: readonly Releasable[]): void {
  const running = workers.filter(({ child }) => child.connected)
  if (!running.every(({ isReady }) => isReady)) return
  for (const worker of running) {
    if (worker.isReleased) continue
    worker.isReleased = true
    worker.child.send({ kind: 'go' })
  }
}
