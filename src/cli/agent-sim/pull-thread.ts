// Worker thread that pulls the states of a simulated fleet. `threaded-pulls.ts` starts one for all agents.
import { parentPort, workerData } from 'node:worker_threads'
import { createCaller } from '../../client/client.ts'
import { ProblemAnswer, TransportFailure, type ProblemDocument } from '../../client/failures.ts'
import { createTransport } from '../../client/transport.ts'
import { builtManifest } from '../argv/built-manifest.ts'
import { createNodeWire } from '../../client/agent/calls/node-wire.ts'
import { createPeerBook, type PeerBook } from '../../client/agent/peers/peer-book.ts'
import type { BookChanges, PullAnswer, PullRequest, PullResult, PullThreadOptions } from './pull-messages.ts'
import { pullsInThisThread, type PullState } from '../../client/agent/state/state-pulls.ts'

/** Serves the pull requests of the main thread. */
function servePulls(options: PullThreadOptions): void {
  const { url, trust, timeoutMs, connections: socketsMax, userAgent } = options
  const manifest = builtManifest()
  const transport = createTransport({ url, ...trust, socketsMax })
  const caller = createCaller({ manifest, transport, timeoutMs, triesMax: 1, userAgent })
  const { book, changes } = bookWithChanges()
  const pull = pullsInThisThread(createNodeWire(caller, manifest))(book)
  const answer = async ({ id, call }: PullRequest): Promise<void> => {
    const result = await resultOf(pull(call))
    parentPort?.postMessage({ id, changes: changes(), ...result } satisfies PullAnswer)
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

/** A book, and what has changed in it since the last call of `changes`. */
function bookWithChanges(): { readonly book: PeerBook; readonly changes: () => BookChanges } {
  let freed: number[] = []
  let sent = 0
  const book = createPeerBook({ onFreed: (number) => freed.push(number) })
  return {
    book,
    changes() {
      const newFacts = book.after(sent)
      sent = newFacts.at(-1)?.[0] ?? sent
      const result = { newFacts, freed }
      freed = []
      return result
    },
  }
}

servePulls(workerData as PullThreadOptions)
