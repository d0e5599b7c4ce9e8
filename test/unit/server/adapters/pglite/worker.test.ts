import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { blankDatabaseFile } from '../../../../../src/server/adapters/pglite/blank-database.ts'
import type { EngineEvent } from '../../../../../src/server/adapters/pglite/worker.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 })

const WORKER = new URL('../../../../../src/server/adapters/pglite/worker.js', import.meta.url)

/** A message of the wire protocol: its type, its length, what it holds. */
function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + content.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)])
}

const query = (text: string): Buffer => message('Q', `${text}\0`)
/** Begins the conversation; protocol 3.0. */
const START_UP = message('', '\0\x03\0\0user\0postgres\0database\0postgres\0\0')

/** The thread alone, with everything that it said. */
interface EngineThread {
  readonly said: (Uint8Array | EngineEvent)[]
  /** Sends bytes and resolves with what comes back, in printable characters. */
  ask(bytes: Buffer): Promise<string>
  send(bytes: Buffer): void
  /** Resolves with the exit code. */
  ended(): Promise<number>
}

let worker: Worker | undefined
afterEach(async () => {
  await worker?.terminate()
})

async function startThread(): Promise<EngineThread> {
  const place = { image: blankDatabaseFile() }
  const thread = new Worker(WORKER, { workerData: { place, syncModule: 'node:fs', startParams: undefined } })
  worker = thread
  const exited = once(thread, 'exit')
  const said: (Uint8Array | EngineEvent)[] = []
  await once(thread, 'message')
  thread.on('message', (each: Uint8Array | EngineEvent) => said.push(each))
  return {
    said,
    async ask(bytes) {
      const answered = once(thread, 'message')
      thread.postMessage(bytes)
      const [answer] = (await answered) as [Uint8Array]
      return Buffer.from(answer).toString('latin1')
    },
    send: (bytes) => thread.postMessage(bytes),
    ended: async () => Number((await exited)[0]),
  }
}

test.each([
  {
    what: 'a transaction that is idle for too long',
    begin: "begin; select set_config('idle_in_transaction_session_timeout', '1', true)",
    reason: 'terminating connection due to idle-in-transaction timeout',
  },
  {
    what: 'a transaction that lasts too long',
    begin: "set transaction_timeout = '1ms'; begin",
    reason: 'terminating connection due to transaction timeout',
  },
  {
    what: 'a session that is idle for too long',
    begin: "set idle_session_timeout = '1ms'",
    reason: 'terminating connection due to idle-session timeout',
  },
])('$what ends the thread, which says why', async ({ begin, reason }) => {
  const thread = await startThread()
  await thread.ask(START_UP)
  thread.send(query(begin))
  // The engine looks at its timer when the next statement arrives.
  const asking = setInterval(() => thread.send(query('select 1')), 20)
  expect(await thread.ended()).toBe(1)
  clearInterval(asking)
  expect(thread.said.at(-1)).toEqual({ event: 'failed', reason })
})

test('a message that the protocol does not have ends the thread, which says why', async () => {
  const thread = await startThread()
  await thread.ask(START_UP)
  thread.send(message('z', ''))
  expect(await thread.ended()).toBe(1)
  expect(thread.said.at(-1)).toEqual({ event: 'failed', reason: 'invalid frontend message type 122' })
})

test('an error that a statement meets ends nothing', async () => {
  const thread = await startThread()
  await thread.ask(START_UP)
  expect(await thread.ask(query('select 1 / 0'))).toContain('division by zero')
  expect(await thread.ask(query('select 41 + 1'))).toContain('42')
})
