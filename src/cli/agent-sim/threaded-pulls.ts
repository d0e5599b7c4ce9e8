import { Worker } from 'node:worker_threads'
import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import { packageFile } from '../../shared/package-files.ts'
import type { PeerBook } from './peer-book.ts'
import type { PullAnswer, PullQuestion, PullThreadOptions } from './pull-messages.ts'
import type { PulledState, PullsOver, PullState } from './state-pulls.ts'

/** A thread that pulls. */
export interface PullThread {
  readonly over: PullsOver
  /** Gives up what is under way. */
  stop(): Promise<void>
}

interface Asked {
  readonly resolve: (pulled: PulledState | undefined) => void
  readonly reject: (error: Error) => void
}

/**
 * Starts a thread that pulls the states of a fleet and reads them. Ten thousand agents pull two megabytes each every five
 * minutes: beside them no heartbeat would be sent, and no answer read, in time.
 */
export function startPullThread(options: PullThreadOptions): PullThread {
  const worker = new Worker(packageFile('dist/ctl/pull-thread.cjs'), { workerData: options, execArgv: [] })
  worker.unref()
  return { over: (book) => pullsOver(worker, book), stop: async () => void (await worker.terminate()) }
}

function pullsOver(worker: Worker, book: PeerBook): PullState {
  const asked = new Map<number, Asked>()
  const translate = createTranslation(book)
  let last = 0

  function giveUp(error: Error): void {
    for (const { reject } of asked.values()) reject(error)
    asked.clear()
  }

  worker.on('message', (answer: PullAnswer) => {
    const caller = asked.get(answer.id)
    asked.delete(answer.id)
    translate.learn(answer.news)
    if (answer.kind === 'pulled') caller?.resolve(answer.pulled && translate.state(answer.pulled))
    else caller?.reject(errorOf(answer))
  })
  worker.on('error', giveUp)
  worker.on('exit', () => giveUp(new TransportFailure('aborted', 'the fleet has stopped')))

  return (call) =>
    new Promise((resolve, reject) => {
      last += 1
      asked.set(last, { resolve, reject })
      worker.postMessage({ id: last, call } satisfies PullQuestion)
    })
}

/** Translates numbers of the thread's book into those of this one. */
function createTranslation(book: PeerBook) {
  const numbers = [0]
  return {
    learn(news: PullAnswer['news']): void {
      for (const facts of news) numbers.push(book.enter(facts))
    },
    state(pulled: PulledState): PulledState {
      const { read } = pulled
      if (!read.ok) return pulled
      const peers = read.snapshot.peers.map((number) => numbers[number] ?? 0)
      return { ...pulled, read: { ok: true, snapshot: { ...read.snapshot, peers } } }
    },
  }
}

function errorOf(answer: Exclude<PullAnswer, { kind: 'pulled' }>): Error {
  if (answer.kind === 'refused') return new ProblemAnswer(answer.document, answer.retryAfterSeconds)
  if (answer.kind === 'unanswered') return new TransportFailure(answer.fault, answer.message)
  return new Error(`the thread that pulls: ${answer.message}`)
}
