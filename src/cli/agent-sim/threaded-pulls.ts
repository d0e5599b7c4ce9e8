import { Worker } from 'node:worker_threads'
import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import { packageFile } from '../../shared/package-files.ts'
import type { PeerBook } from '../../client/agent/peers/peer-book.ts'
import type { BookChanges, PullAnswer, PullRequest, PullThreadOptions } from './pull-messages.ts'
import type { PulledState, PullsOver, PullState } from '../../client/agent/state/state-pulls.ts'

/** The thread that pulls states. */
export interface PullThread {
  readonly over: PullsOver
  /** Stops the thread and rejects the pending pulls. */
  stop(): Promise<void>
}

interface PendingPull {
  readonly resolve: (pulled: PulledState | undefined) => void
  readonly reject: (error: Error) => void
}

/**
 * Starts a thread that pulls and parses the states of a fleet. Ten thousand agents pull two megabytes each every five
 * minutes; on the main thread this would delay heartbeats and the reading of answers.
 */
export function startPullThread(options: PullThreadOptions): PullThread {
  const worker = new Worker(packageFile('dist/ctl/pull-thread.cjs'), { workerData: options, execArgv: [] })
  worker.unref()
  return { over: (book) => pullsOver(worker, book), stop: async () => void (await worker.terminate()) }
}

function pullsOver(worker: Worker, book: PeerBook): PullState {
  const pending = new Map<number, PendingPull>()
  const translate = createTranslation(book)
  let last = 0

  function rejectAll(error: Error): void {
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
  }

  worker.on('message', (answer: PullAnswer) => {
    const caller = pending.get(answer.id)
    pending.delete(answer.id)
    translate.take(answer.changes)
    if (answer.kind === 'pulled') caller?.resolve(answer.pulled && translate.state(answer.pulled))
    else caller?.reject(errorOf(answer))
  })
  worker.on('error', rejectAll)
  worker.on('exit', () => rejectAll(new TransportFailure('aborted', 'the fleet has stopped')))

  return (call) =>
    new Promise((resolve, reject) => {
      last += 1
      pending.set(last, { resolve, reject })
      worker.postMessage({ id: last, call } satisfies PullRequest)
    })
}

/** Translates the fact numbers of the thread's book into those of this one. */
function createTranslation(book: PeerBook) {
  const numbers = new Map<number, number>()
  book.keep(numbers)
  return {
    take({ newFacts, freed }: BookChanges): void {
      for (const [number, facts] of newFacts) numbers.set(number, book.enter(facts))
      for (const number of freed) numbers.delete(number)
    },
    state(pulled: PulledState): PulledState {
      const { read } = pulled
      if (!read.ok) return pulled
      const peers = read.snapshot.peers.map((number) => numbers.get(number) ?? 0)
      book.keep(peers)
      return { ...pulled, read: { ok: true, snapshot: { ...read.snapshot, peers } } }
    },
  }
}

function errorOf(answer: Exclude<PullAnswer, { kind: 'pulled' }>): Error {
  if (answer.kind === 'refused') return new ProblemAnswer(answer.document, answer.retryAfterSeconds)
  if (answer.kind === 'unanswered') return new TransportFailure(answer.fault, answer.message)
  return new Error(`pull thread: ${answer.message}`)
}
