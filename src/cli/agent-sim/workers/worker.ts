import type { Progress } from '../dashboard.ts'
import type { JoinToken } from '../fleet.ts'
import type { MeasuredResult } from '../simulation.ts'
import { failureOf, type FromWorker, type Measured, type ToWorker } from './messages.ts'

/** Marks a process as a worker of another one. */
export const WORKER_VARIABLE = 'CTL_AGENT_SIM_WORKER'

/** The share of a worker, and its way to the parent. */
export interface WorkerTask extends Extract<ToWorker, { readonly kind: 'start' }> {
  readonly joinToken: (uses: number, domain: string | undefined) => Promise<JoinToken>
  /** Resolves when all workers are ready. */
  readonly ready: () => Promise<void>
  readonly observe: (progress: Progress, measured: Measured) => void
}

/** The channel to the parent. */
export interface Channel {
  readonly send: (message: FromWorker) => void
  /** Sends the last message; resolves once it is written. */
  readonly sendLast: (message: FromWorker) => Promise<void>
  readonly onMessage: (take: (message: ToWorker) => void) => void
  /** Ends the channel. Messages that are not written yet are lost. */
  readonly close: () => void
}

/** Does the share that the parent sends, and sends the result or the error. */
export async function workFor(
  { send, sendLast, onMessage, close }: Channel,
  work: (task: WorkerTask) => Promise<MeasuredResult>,
): Promise<void> {
  const tokens = new Map<number, (token: JoinToken) => void>()
  let [asked, go] = [0, (): void => undefined]
  let start: ((task: WorkerTask) => void) | undefined
  const started = new Promise<WorkerTask>((resolve) => (start = resolve))
  const gone = new Promise<void>((resolve) => (go = resolve))
  const links = {
    joinToken: (uses: number, domain: string | undefined) =>
      new Promise<JoinToken>((resolve) => {
        asked += 1
        tokens.set(asked, resolve)
        send({ kind: 'join_token', id: asked, uses, domain })
      }),
    ready() {
      send({ kind: 'ready' })
      return gone
    },
    observe: (progress: Progress, measured: Measured) => send({ kind: 'progress', progress, ...measured }),
  }
  onMessage((message) => {
    if (message.kind === 'start') start?.({ ...message, ...links })
    else if (message.kind === 'join_token') tokens.get(message.id)?.(message)
    else go()
  })
  send({ kind: 'hello' })
  try {
    const { record, summary, failedConditions: _ofParent, ...result } = await work(await started)
    await sendLast({ kind: 'result', result, record, generator: summary.generator })
  } catch (error) {
    await sendLast({ kind: 'failed', failure: failureOf(error) })
  }
  close()
}

/** The channel of this process, if it is a worker. It ends with its parent. */
export function channelToParent(env: Readonly<Record<string, string | undefined>>): Channel | undefined {
  if (env[WORKER_VARIABLE] !== '1' || process.send === undefined) return undefined
  const end = (): void => process.exit(1)
  process.once('disconnect', end)
  return {
    send: (message) => void process.send?.(message),
    sendLast: (message) => new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve())),
    onMessage: (take) => void process.on('message', (message) => take(message as ToWorker)),
    close() {
      process.removeListener('disconnect', end)
      process.disconnect()
    },
  }
}
