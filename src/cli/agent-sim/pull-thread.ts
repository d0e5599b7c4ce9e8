// Worker thread that pulls the states of a simulated fleet. `threaded-pulls.ts` starts one for all agents.
import { parentPort, workerData } from 'node:worker_threads'
import { createCaller } from '../../client/client.ts'
import { ProblemAnswer, TransportFailure, type ProblemDocument } from '../../client/failures.ts'
import { createTransport } from '../../client/transport.ts'
import { builtManifest } from '../argv/built-manifest.ts'
import { createNodeWire } from '../../client/agent/calls/node-wire.ts'
import { createPeerBook, type PeerBook, type PeerFacts } from '../../client/agent/peers/peer-book.ts'
import type { PullAnswer, PullRequest, PullResult, PullThreadOptions } from './pull-messages.ts'
import { pullsInThisThread, type PullState } from '../../client/agent/state/state-pulls.ts'

/** Serves the pull requests of the main thread. */
function servePulls(options: PullThreadOptions): void {
  const { url, trust, timeoutMs, connections: socketsMax, userAgent } = options
  const manifest = builtManifest()
  const transport = createTransport({ url, ...trust, socketsMax })
  const caller = createCaller({ manifest, transport, timeoutMs, triesMax: 1, userAgent })
  const book = createPeerBook()
  const pull = pullsInThisThread(createNodeWire(caller, manifest))(book)
  let sentFacts = 0
  const answer = async ({ id, call }: PullRequest): Promise<void> => {
    const result = await resultOf(pull(call))
    const newFacts = factsAfter(book, sentFacts)
    sentFacts += newFacts.length
    parentPort?.postMessage({ id, newFacts, ...result } satisfies PullAnswer)
  }
  parentPort?.on('message', (request: PullRequest) => void answer(request))
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

function factsAfter(book: PeerBook, count: number): PeerFacts[] {
  return Array.from({ length: book.facts() - count }, (_, index) => book.read(count + index + 1))
}

servePulls(workerData as PullThreadOptions)
