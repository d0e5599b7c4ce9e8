// The thread in which a simulated fleet pulls: `ctl agent-sim` starts it (`threaded-pulls.ts`), one for all agents.
import { parentPort, workerData } from 'node:worker_threads'
import { createCaller } from '../../client/client.ts'
import { ProblemAnswer, TransportFailure, type ProblemDocument } from '../../client/failures.ts'
import { createTransport } from '../../client/transport.ts'
import { builtManifest } from '../argv/built-manifest.ts'
import { createNodeWire } from './node-wire.ts'
import { createPeerBook, type PeerBook, type PeerFacts } from './peer-book.ts'
import type { PullAnswer, PullQuestion, PullResult, PullThreadOptions } from './pull-messages.ts'
import { pullsInThisThread, type PullState } from './state-pulls.ts'

/** Answers the questions of the thread that started this one. */
function servePulls(options: PullThreadOptions): void {
  const { url, ca, timeoutMs, connections: socketsMax, userAgent } = options
  const manifest = builtManifest()
  const transport = createTransport({ url, ca, socketsMax })
  const caller = createCaller({ manifest, transport, timeoutMs, triesMax: 1, userAgent })
  const book = createPeerBook()
  const pull = pullsInThisThread(createNodeWire(caller, manifest))(book)
  let told = 0
  const answer = async ({ id, call }: PullQuestion): Promise<void> => {
    const result = await resultOf(pull(call))
    const news = newsAfter(book, told)
    told += news.length
    parentPort?.postMessage({ id, news, ...result } satisfies PullAnswer)
  }
  parentPort?.on('message', (question: PullQuestion) => void answer(question))
}

async function resultOf(pulling: ReturnType<PullState>): Promise<PullResult> {
  try {
    return { kind: 'pulled', pulled: await pulling }
  } catch (error) {
    if (error instanceof ProblemAnswer)
      return { kind: 'refused', document: documentOf(error), retryAfterSeconds: error.retryAfterSeconds }
    if (error instanceof TransportFailure) return { kind: 'unanswered', fault: error.fault, message: error.message }
    return { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function documentOf({ document, code, status, title, detail }: ProblemAnswer): ProblemDocument {
  return { ...document, code, status, title, detail }
}

function newsAfter(book: PeerBook, told: number): PeerFacts[] {
  return Array.from({ length: book.facts() - told }, (_, index) => book.read(told + index + 1))
}

servePulls(workerData as PullThreadOptions)
