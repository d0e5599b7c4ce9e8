import { ProblemAnswer, TransportFailure } from '../../../../client/failures.ts'
import { createProgress, type Progress } from '../../../output/progress.ts'
import type { Session } from '../../../session/session.ts'
import { createFleetView, type FleetView } from '../fleet-view.ts'
import { jittered } from '../polling.ts'
import type { Selection } from '../selection.ts'
import { createLedger, type Ledger, type RotatedNode } from './ledger.ts'
import { pausedWhere } from './paused-where.ts'
import { triggerRotations } from './trigger.ts'
import { nextStep, type Step, type WaveRules } from './wave-plan.ts'

export interface RotationPlan {
  readonly rules: WaveRules
  /** Keys issued then or later need no rotation: UTC with nine fractional digits. */
  readonly since: string
}

/** How a run ended, and what it left. */
export interface RotationEnd {
  readonly reason: 'completed' | 'paused' | 'interrupted' | 'failed'
  /** Why it paused. */
  readonly pausedOn: string | undefined
  /** Why it failed. */
  readonly error: ProblemAnswer | TransportFailure | undefined
  readonly waves: number
  readonly nodes: readonly RotatedNode[]
}

type Ending = Pick<RotationEnd, 'reason' | 'pausedOn' | 'error'>
const COMPLETED: Ending = { reason: 'completed', pausedOn: undefined, error: undefined }
const INTERRUPTED: Ending = { reason: 'interrupted', pausedOn: undefined, error: undefined }

/** Rotates the keys of the selected nodes wave by wave, until all are done, a condition pauses it, or Ctrl-C. */
export async function rotateInWaves(
  session: Session,
  selection: Pick<Selection, 'nodes' | 'lists'>,
  plan: RotationPlan,
): Promise<RotationEnd> {
  const view = createFleetView(session, selection)
  const ledger = createLedger(view, { since: plan.since, startedMs: session.io.nowMs() })
  const progress = createProgress(session, 'nodes rotated', view.ids.length - ledger.rotated())
  const running: Running = { session, view, ledger, rules: plan.rules, progress }
  const ending = await runToTheEnd(running).catch((error: unknown) => failing(error, session))
  progress.end()
  return { ...ending, ...ledger.outcomes() }
}

function failing(error: unknown, { io }: Session): Ending {
  if (io.interrupted.aborted) return INTERRUPTED
  if (error instanceof ProblemAnswer || error instanceof TransportFailure)
    return { reason: 'failed', pausedOn: undefined, error }
  throw error
}

interface Running {
  readonly session: Session
  readonly view: FleetView
  readonly ledger: Ledger
  readonly rules: WaveRules
  readonly progress: Progress
}

async function runToTheEnd(running: Running): Promise<Ending> {
  const { session, ledger, progress } = running
  const before = ledger.rotated()
  while (!session.io.interrupted.aborted) {
    const ending = await taken(await decided(running), running)
    if (ending) return ending
    progress.at(ledger.rotated() - before, `wave ${ledger.waves()}`)
  }
  return INTERRUPTED
}

/** What is next. Anything but waiting for a wave is decided on nodes that were looked at just now. */
async function decided({ session, view, ledger, rules }: Running): Promise<Step> {
  const planned = (): Step => nextStep(view.all(), rules, { run: ledger.soFar(), nowMs: session.io.nowMs() })
  const step = planned()
  if (step.kind === 'wait' && step.why === 'wave') return step
  ledger.settled(session.io.nowMs())
  await view.refresh(view.ids)
  return planned()
}

async function taken(step: Step, running: Running): Promise<Ending | undefined> {
  if (step.kind === 'end') return COMPLETED
  if (step.kind === 'ask') return asked(step, running)
  if (step.kind === 'begin') await begin(step.ids, running)
  else await wait(step, running)
  return undefined
}

async function begin(ids: readonly string[], { session, view, ledger }: Running): Promise<void> {
  ledger.beginWave()
  const isPending = (id: string): boolean => view.node(id)?.rotation_pending === true
  for (const id of ids) if (isPending(id)) ledger.begun(id, session.io.nowMs())
  const triggered = ids.filter((id) => !isPending(id))
  await triggerRotations(session, triggered, {
    begun: (id) => ledger.begun(id, session.io.nowMs()),
    refused: (id, code) => ledger.refused(id, code),
  })
  await view.refresh(ids)
}

async function wait(step: Step & { kind: 'wait' }, { session, view }: Running): Promise<void> {
  const { io } = session
  const untilMs = Math.max(1, step.untilMs - io.nowMs())
  await io.sleep(step.why === 'pause' ? untilMs : Math.min(untilMs, jittered(view.pollMs())))
  if (step.why === 'wave' && !io.interrupted.aborted) await view.refresh(step.ids)
}

/** Asks whether to go on where somebody can answer; undefined when the answer is yes. */
async function asked(
  { reason, counts }: Step & { kind: 'ask' },
  { session, ledger, progress }: Running,
): Promise<Ending | undefined> {
  const paused: Ending = { reason: 'paused', pausedOn: reason, error: undefined }
  progress.end()
  if (!session.canAsk) return paused
  const prompter = await session.io.prompter()
  const answer = await prompter.confirm(`${pausedWhere(ledger.waves())}: ${reason}. Go on?`)
  if (answer === undefined) return INTERRUPTED
  ledger.agree(counts)
  return answer ? undefined : paused
}
