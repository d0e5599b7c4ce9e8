import { usageError } from '../../errors/cli-error.ts'
import { isScreen } from '../../output/screen.ts'
import { defineCommand } from '../../argv/command.ts'
import { shortDuration } from '../../argv/duration.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { counted, namedSome } from '../../output/counts.ts'
import { createFleetView, type FleetView } from './fleet-view.ts'
import { jittered } from './polling.ts'
import { NODES, nothingSelected, present, selectedNodes, SELECTION, type Absent } from './selection.ts'
import { parseWaitCondition, WAIT_CONDITIONS, type WaitCondition } from './wait-condition.ts'
import { createProgress } from '../../output/progress.ts'
import type { Session } from '../../session/session.ts'

const TIMEOUT_SECONDS = 300

const FLAGS = {
  for: {
    kind: 'text',
    value: 'CONDITION',
    describe: `What to wait for: ${WAIT_CONDITIONS.join(', ')}`,
    required: true,
  },
  ...SELECTION,
  timeout: { kind: 'duration', describe: 'Give up after this long', fallback: '5m' },
} as const satisfies FlagSpecs

export const wait = defineCommand({
  description:
    'Exit 0 when every node meets the condition, 10 when not all do by --timeout, 3 when none is selected. A node that no longer exists meets the condition deregistered and no other. The same holds for an id that you may not read: the permission to read a node ends with the node.',
  args: [NODES],
  flags: FLAGS,
  uses: ['connection', 'output'],
  examples: [
    'ctl nodes wait web-1 --for reachability=healthy',
    'ctl nodes wait -l tier=edge --for rotation=completed --timeout 15m',
    'ctl nodes wait web-1 db-1 --for deregistered',
  ],
  async run(session, given) {
    const { flags } = given
    if (flags.for === undefined) throw usageError('--for is missing', `Add --for, e.g. --for ${WAIT_CONDITIONS[0]}`)
    const condition = parseWaitCondition(flags.for)
    const found = await selectedNodes(session, given)
    const selection = condition.isMet(undefined) ? found : present(found)
    // Anyone who waits for nodes to go may find none of them; anyone who waits for anything else has mistyped the selector.
    if (selection.nodes.length === 0 && !condition.isMet(undefined)) throw nothingSelected()
    const view = createFleetView(session, selection)
    const timeoutSeconds = flags.timeout ?? TIMEOUT_SECONDS
    await untilMet(session, { view, condition, untilMs: session.io.nowMs() + timeoutSeconds * 1000 })
    return report(session, { view, condition, timeoutSeconds, absent: selection.absent })
  },
})

interface Waiting {
  readonly view: FleetView
  readonly condition: WaitCondition
  readonly untilMs: number
}

/** Looks at those that have not come to it, until none is left, the time is over, or Ctrl-C. */
async function untilMet(session: Session, { view, condition, untilMs }: Waiting): Promise<void> {
  const { io } = session
  const atFirst = unmet(view, condition).length
  const progress = createProgress(session, condition.text, atFirst)
  try {
    for (let left = unmet(view, condition); left.length > 0; left = unmet(view, condition)) {
      progress.at(atFirst - left.length, `waiting for ${namedSome(left.map((id) => nameIn(view, id)))}`)
      if (io.interrupted.aborted || io.nowMs() >= untilMs) break
      await io.sleep(Math.min(jittered(view.pollMs()), Math.max(1, untilMs - io.nowMs())))
      await view.refresh(left)
    }
  } catch (error) {
    if (!io.interrupted.aborted) throw error
  } finally {
    progress.end()
  }
}

function unmet(view: FleetView, condition: WaitCondition): readonly string[] {
  return view.ids.filter((id) => !condition.isMet(view.node(id)))
}

function nameIn(view: FleetView, id: string): string {
  return view.last(id)?.display_name ?? id
}

interface Waited extends Omit<Waiting, 'untilMs'> {
  readonly timeoutSeconds: number
  readonly absent: readonly Absent[]
}

async function report(session: Session, waited: Waited): Promise<ExitCode> {
  const { view, condition, timeoutSeconds } = waited
  const left = unmet(view, condition)
  const isInterrupted = session.io.interrupted.aborted && left.length > 0
  if (!(await isScreen(session))) await session.emit(asData(waited), { columns: [], rows: 'nodes' })
  const count = view.ids.length + waited.absent.length
  if (left.length === 0) session.note(`${counted(count, 'node')}: ${condition.text}.`)
  else {
    const when = isInterrupted ? 'Interrupted' : `Not within ${shortDuration(timeoutSeconds)}`
    const missing = left.map((id) => `${nameIn(view, id)} (${insteadOf(view, id, condition)})`)
    session.note(
      `${when}: ${count - left.length} of ${counted(count, 'node')} ${condition.text}. Missing: ${namedSome(missing)}.`,
    )
  }
  if (left.length === 0) return EXIT.ok
  return isInterrupted ? EXIT.interrupted : EXIT.negative
}

function insteadOf(view: FleetView, id: string, condition: WaitCondition): string {
  const node = view.node(id)
  return node === undefined ? 'deregistered' : condition.instead(node)
}

function asData({ view, condition, absent }: Waited) {
  const nodes = view.ids.map((id) => {
    const node = view.node(id)
    return {
      node_id: id,
      display_name: nameIn(view, id),
      met: condition.isMet(node),
      reachability: node?.reachability ?? null,
      rotation_pending: node?.rotation_pending ?? null,
    }
  })
  const gone = absent.map(({ id }) => ({
    node_id: id,
    display_name: null,
    met: true,
    reachability: null,
    rotation_pending: null,
  }))
  return { for: condition.text, met: nodes.every(({ met }) => met), nodes: [...nodes, ...gone] }
}
