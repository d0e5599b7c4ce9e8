import { fork, type ChildProcess } from 'node:child_process'
import { packageFile } from '../../../shared/package-files.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Progress } from '../dashboard.ts'
import { failed, type Condition } from '../fail-on.ts'
import type { JoinToken } from '../fleet.ts'
import { mergedLoad } from '../generator-load.ts'
import type { SimulationResult } from '../simulation.ts'
import { mergedSummary, type Summary } from '../statistics.ts'
import { errorOf, type FromWorker, type Measured, type ToWorker, type WorkerResult } from './messages.ts'
import { mergedProgress } from './merged-progress.ts'
import { release, type Releasable } from './release.ts'
import { sizeOf, type DomainShare } from './shares.ts'
import { WORKER_VARIABLE } from './worker.ts'

export interface ParentOptions {
  readonly shares: readonly (readonly DomainShare[])[]
  /** Words after the name of the program: the workers read the same flags. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly token: string | undefined
  readonly joinToken: (uses: number, domain: string | undefined) => Promise<JoinToken>
  readonly failOn: readonly Condition[]
  /** Aborted by Ctrl-C: the workers end as one process does. */
  readonly signal: AbortSignal
  readonly isTerminated: () => boolean
  readonly observe: (progress: Progress, summary: Summary) => void
}

/** A worker, and the last that it has sent. */
interface Worker extends Releasable {
  readonly number: number
  readonly share: readonly DomainShare[]
  readonly child: ChildProcess
  progress: Progress | undefined
  measured: Measured | undefined
  result: WorkerResult | undefined
  failure: Error | undefined
}

const OBSERVE_EVERY_MS = 1_000

/**
 * Runs a simulation in several processes, each with a share of the nodes, and merges what they measure.
 *
 * @throws the first error of a worker, after the others have ended. One that ended without a result is an error.
 */
export async function runWorkers(options: ParentOptions): Promise<SimulationResult> {
  const { shares, signal, observe } = options
  const workers: Worker[] = shares.map((share, index) => startWorker(options, share, index + 1))
  let isStopped = false
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    for (const { child } of workers) child.kill(options.isTerminated() ? 'SIGTERM' : 'SIGINT')
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const timer = setInterval(() => {
    const { progress, summary } = merged(workers)
    if (progress !== undefined) observe(progress, summary)
  }, OBSERVE_EVERY_MS)
  try {
    await Promise.all(workers.map((worker) => ended(worker, { options, workers, stop })))
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
  }
  const failure = workers.map((worker) => worker.failure).find((error) => error !== undefined)
  if (failure !== undefined) throw failure
  return resultOf(workers, options)
}

function startWorker({ argv, env }: ParentOptions, share: readonly DomainShare[], number: number): Worker {
  const child = fork(packageFile('bin/ctl.js'), argv, {
    env: { ...env, [WORKER_VARIABLE]: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Ctrl-C in a terminal goes to the parent alone, which passes it on once.
    detached: true,
  })
  return {
    number,
    share,
    child,
    isReady: false,
    isReleased: false,
    progress: undefined,
    measured: undefined,
    result: undefined,
    failure: undefined,
  }
}

interface Running {
  readonly options: ParentOptions
  readonly workers: readonly Worker[]
  readonly stop: () => void
}

/** Serves a worker until its process has ended. */
function ended(worker: Worker, running: Running): Promise<void> {
  const { child } = worker
  return new Promise((resolve) => {
    child.on('message', (message) => take(worker, running, message as FromWorker))
    // Each message that cannot be sent is an error of its own.
    child.on('error', (error) => (worker.failure ??= error))
    child.once('close', (code, signal) => {
      if (worker.result === undefined && !running.options.signal.aborted)
        worker.failure ??= died(worker, signal ?? `exit code ${code}`)
      if (worker.failure !== undefined) running.stop()
      release(running.workers)
      resolve()
    })
  })
}

function died({ number, share, progress }: Worker, how: string): CliError {
  const nodes = progress?.nodes ?? 0
  return new CliError(
    `worker ${number} of the simulation ended with ${how}; it had ${nodes} of ${sizeOf(share)} nodes, and the run is void`,
    { exitCode: EXIT.failed, code: 'worker_died' },
  )
}

function take(worker: Worker, { options, workers, stop }: Running, message: FromWorker): void {
  const { child, number, share } = worker
  const send = (answer: ToWorker): void => void (child.connected && child.send(answer))
  if (message.kind === 'hello') return send({ kind: 'start', worker: number, share, token: options.token })
  if (message.kind === 'ready') {
    worker.isReady = true
    return release(workers)
  }
  if (message.kind === 'join_token') {
    options.joinToken(message.uses, message.domain).then(
      (token) => send({ kind: 'join_token', id: message.id, ...token }),
      (error: Error) => {
        worker.failure ??= error
        child.kill('SIGKILL')
      },
    )
    return undefined
  }
  return takeReport(worker, message, stop)
}

function takeReport(
  worker: Worker,
  message: Extract<FromWorker, { readonly kind: 'progress' | 'result' | 'failed' }>,
  stop: () => void,
): void {
  if (message.kind === 'failed') {
    worker.failure ??= errorOf(message.failure)
    return stop()
  }
  const { record, generator } = message
  worker.measured = { record, generator }
  if (message.kind === 'progress') worker.progress = message.progress
  else worker.result = message.result
  return undefined
}

function merged(workers: readonly Worker[]) {
  const measured = workers.flatMap((worker) => worker.measured ?? [])
  const generator = mergedLoad(measured.flatMap((one) => one.generator ?? []))
  const records = measured.map(({ record }) => record)
  const summary: Summary = { ...mergedSummary(records), ...(generator !== undefined && { generator }) }
  return { progress: mergedProgress(workers.flatMap(({ progress }) => progress ?? [])), summary }
}

function resultOf(workers: readonly Worker[], { failOn, signal, observe }: ParentOptions): SimulationResult {
  const { progress, summary } = merged(workers)
  if (progress !== undefined) observe(progress, summary)
  const results = workers.flatMap(({ result }) => result ?? [])
  const sum = (member: Exclude<keyof WorkerResult, 'interrupted'>): number =>
    results.reduce((whole, result) => whole + result[member], 0)
  return {
    summary,
    failedConditions: failed(failOn, summary),
    nodes: sum('nodes'),
    ephemeralNodes: sum('ephemeralNodes'),
    goneNodes: sum('goneNodes'),
    unregisteredNodes: sum('unregisteredNodes'),
    leftNodes: sum('leftNodes'),
    interrupted: signal.aborted,
  }
}
