import type { AgentDeps } from '../agent-deps.ts'
import { attempt, OUTAGE } from '../calls/attempt.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { Member } from '../member.ts'
import type { PulledExecution } from '../state/snapshot.ts'
import { addIfNew } from './recently-seen.ts'

/** A status that an agent reports of an execution. */
export type Callback = Parameters<AgentDeps['client']['PostExecutionCallback']>[0]['body']

/** Reports a status. Resolves with whether the execution continues. `expects`: the code with which the server must refuse it. */
export type SendCallback = (body: Callback, expects?: string) => Promise<boolean>

/** How an execution ends, and what the agent does once the server knows. */
export interface End {
  readonly callback: Callback & { readonly status: 'succeeded' | 'failed' | 'cancelled' }
  readonly afterwards?: () => Promise<void>
}

/** Carries out actions. */
export interface Performer<M extends Member> {
  /** Carries out an action whose start was reported. Undefined: it goes on after a restart of the agent, which reports the end. */
  perform(node: M, execution: PulledExecution): Promise<End | undefined>
  /** Reports a status by calling `send`. Default: once. */
  report?(node: M, body: Callback, send: SendCallback): Promise<boolean>
}

const BEFORE = { pending: ['ack', 'started'], ack: ['started'], started: [] } as const
/** Time after which a report that got no answer is made again, after the usual tries. */
const REPORT_AGAIN_MS = 5_000
/** Refusals that mean that the execution has ended: cancelled or expired. */
const OVER = ['execution_not_found', 'illegal_transition']

/** Runs an execution once, whether it comes from an event or from a pull. */
export function runExecution<M extends Member>(
  deps: AgentDeps,
  node: M,
  { execution, performer }: { readonly execution: PulledExecution; readonly performer: Performer<M> },
): void {
  if (addIfNew(node.seen, execution.execution_id)) deps.tasks.track(run(deps, node, { execution, performer }))
}

interface Running<M extends Member> {
  readonly execution: PulledExecution
  readonly performer: Performer<M>
}

async function run<M extends Member>(deps: AgentDeps, node: M, { execution, performer }: Running<M>): Promise<void> {
  const send: SendCallback = (body, expects) => post(deps, node, { id: execution.execution_id, body, expects })
  const report = (body: Callback): Promise<boolean> => performer.report?.(node, body, send) ?? send(body)
  for (const status of BEFORE[execution.status]) if (!(await report({ status }))) return
  const end = await performer.perform(node, execution)
  if (end === undefined) return
  const { callback, afterwards } = end
  if (!(await report(callback))) return
  deps.statistics.count(callback.status === 'succeeded' ? 'executions_succeeded' : 'executions_failed')
  await afterwards?.()
}

interface Step {
  readonly id: string
  readonly body: Callback
  readonly expects: string | undefined
}

async function post(deps: AgentDeps, node: Member, step: Step): Promise<boolean> {
  const outcome = await postUntilAnswered(deps, node, step)
  if (outcome.ok || step.expects !== undefined) return true
  if (OVER.includes(outcome.code)) deps.statistics.count('overtaken')
  return false
}

/** Posts a status again while the server cannot be reached or limits the node. That is safe, and without it the execution would stay open until it expires. */
async function postUntilAnswered(
  deps: AgentDeps,
  node: Member,
  { id, body, expects }: Step,
): Promise<Outcome<unknown>> {
  for (;;) {
    const outcome = await attempt(deps, node, {
      operation: 'execution',
      isRepeatable: true,
      ...(expects === undefined ? { toleratedCodes: OVER } : { expects }),
      call: (token) =>
        deps.client.PostExecutionCallback({ id: node.identity.node_id, execution_id: id, body }, { token }),
    })
    if (outcome.ok || deps.until.aborted) return outcome
    const pauseMs = outcome.waitMs ?? (OUTAGE.has(outcome.code) ? REPORT_AGAIN_MS : undefined)
    if (pauseMs === undefined) return outcome
    await deps.clock.pause(pauseMs, deps.until)
  }
}
