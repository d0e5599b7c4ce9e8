import { ProblemAnswer, TransportFailure, type ProblemDocument, type TransportFault } from '../../../client/failures.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Progress } from '../dashboard.ts'
import type { JoinToken } from '../fleet.ts'
import type { GeneratorLoad } from '../generator-load.ts'
import type { StatisticsRecord } from '../statistics.ts'
import type { DomainShare } from './shares.ts'

/** What the parent sends to a worker. */
export type ToWorker =
  | {
      readonly kind: 'start'
      readonly worker: number
      readonly share: readonly DomainShare[]
      readonly token: string | undefined
    }
  | ({ readonly kind: 'join_token'; readonly id: number } & JoinToken)
  /** All workers are ready: the measured time begins. */
  | { readonly kind: 'go' }

/** What a worker sends to the parent. */
export type FromWorker =
  /** It can be started. */
  | { readonly kind: 'hello' }
  | { readonly kind: 'join_token'; readonly id: number; readonly uses: number; readonly domain: string | undefined }
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'progress'; readonly progress: Progress } & Measured)
  | ({ readonly kind: 'result'; readonly result: WorkerResult } & Measured)
  | { readonly kind: 'failed'; readonly failure: WorkerFailure }

export interface Measured {
  readonly record: StatisticsRecord
  readonly generator: GeneratorLoad | undefined
}

/** How the part of a worker ended. */
export interface WorkerResult {
  readonly nodes: number
  readonly ephemeralNodes: number
  readonly goneNodes: number
  readonly unregisteredNodes: number
  readonly leftNodes: number
  readonly interrupted: boolean
}

/** An error of a worker, which the parent throws. */
export type WorkerFailure =
  | { readonly kind: 'refused'; readonly document: ProblemDocument; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: 'unanswered'; readonly fault: TransportFault; readonly message: string }
  | { readonly kind: 'other'; readonly message: string; readonly exitCode: ExitCode; readonly code: string }

export function failureOf(error: unknown): WorkerFailure {
  if (error instanceof ProblemAnswer) {
    const { document, code, status, title, detail, retryAfterSeconds } = error
    return { kind: 'refused', document: { ...document, code, status, title, detail }, retryAfterSeconds }
  }
  if (error instanceof TransportFailure) return { kind: 'unanswered', fault: error.fault, message: error.message }
  if (error instanceof CliError)
    return { kind: 'other', message: error.message, exitCode: error.exitCode, code: error.code }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: 'other', message, exitCode: EXIT.failed, code: 'worker_failed' }
}

export function errorOf(failure: WorkerFailure): Error {
  if (failure.kind === 'refused') return new ProblemAnswer(failure.document, failure.retryAfterSeconds)
  if (failure.kind === 'unanswered') return new TransportFailure(failure.fault, failure.message)
  return new CliError(failure.message, { exitCode: failure.exitCode, code: failure.code })
}
