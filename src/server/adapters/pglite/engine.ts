import { Worker } from 'node:worker_threads'
import { Client } from 'pg'
import { WireStream } from './wire-stream.ts'
import type { EngineEvent, EngineOptions } from './worker.js'

/** PostgreSQL in its thread, and the one conversation it can hold. */
export interface Engine {
  readonly client: Client
  /** Whether it replayed its log at the start, because its last run did not end cleanly. */
  readonly isRecovered: boolean
  /** Why it no longer answers; undefined while it does. */
  failure(): Error | undefined
  /** Stops it from answering: it can no longer be trusted. */
  readonly fail: (reason: string) => void
  /**
   * Shuts the engine down, then ends the thread. Resolves with whether the shutdown was clean: an engine that does
   * not close in time is terminated, and the next start recovers from its log.
   */
  close(deadlineMs: number): Promise<boolean>
}

/** Why the engine did not start, in its own words. */
export class EngineRefusal extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'EngineRefusal'
  }
}

const RETRY_HINT = 'start the server again: it recovers from its log'

/** Waits for the thread's first message: whether it recovered, or why it does not start. */
function opened(worker: Worker): Promise<boolean> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (message: EngineEvent) => {
      if (message.event === 'ready') resolve(message.isRecovered)
      else reject(new EngineRefusal(message.event === 'refused' ? message.reason : message.event))
    })
  })
}

/**
 * Starts the engine in a worker thread, where its synchronous work cannot stall the event loop.
 * @param onFailure called once when it breaks later: nothing it had not answered can be counted on.
 * @throws EngineRefusal when it does not start.
 */
export async function startEngine(options: EngineOptions, onFailure: (error: Error) => void): Promise<Engine> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: options, execArgv: [] })
  const isRecovered = await opened(worker).catch(async (error: unknown) => {
    await worker.terminate()
    throw error
  })

  let failure: Error | undefined
  let closing: Closing | undefined
  const stream = new WireStream((bytes) => worker.postMessage(bytes, []))
  const fail = (reason: string) => {
    closing?.settle(false)
    if (failure !== undefined || closing !== undefined) return
    failure = new Error(`the embedded datastore stopped (${reason}); ${RETRY_HINT}`)
    stream.destroy(failure)
    onFailure(failure)
  }
  worker.on('message', (message: Uint8Array | EngineEvent) => {
    if (message instanceof Uint8Array) stream.receive(message)
    else if (message.event === 'closed') closing?.settle(true)
    else if (message.event === 'failed') fail(message.reason)
  })
  worker.on('error', (error) => fail(error.message))
  worker.on('exit', (code) => fail(`its thread ended with code ${code}`))

  const client = new Client({
    stream: () => stream,
    user: 'postgres',
    database: 'postgres',
    password: '',
    pipeline: true,
  })
  client.on('error', (error) => fail(error.message))
  await client.connect()

  async function close(deadlineMs: number): Promise<boolean> {
    if (failure === undefined && closing === undefined) {
      closing = awaitClosing(deadlineMs)
      worker.postMessage('close', [])
    }
    const isOrderly = closing !== undefined && (await closing.outcome)
    // Waits for a system call that the thread is in: only the end of the process interrupts that.
    await worker.terminate()
    return isOrderly
  }
  return { client, isRecovered, failure: () => failure, fail, close }
}

interface Closing {
  /** Whether the engine has shut down cleanly. */
  readonly outcome: Promise<boolean>
  readonly settle: (isOrderly: boolean) => void
}

function awaitClosing(deadlineMs: number): Closing {
  let settle = (_isOrderly: boolean): void => undefined
  const outcome = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), deadlineMs)
    settle = (isOrderly) => {
      clearTimeout(timer)
      resolve(isOrderly)
    }
  })
  return { outcome, settle: (isOrderly) => settle(isOrderly) }
}
