// The rules of rollouts, by the decisions and nothing else.

/** A plan of percent waves. */
export interface Plan {
  readonly canaries: number
  readonly percents: readonly number[]
  readonly inFlight: number
  readonly soakSeconds: number
  readonly failuresMax: number
}

export type Move = 'start' | 'pause' | 'resume' | 'cancel'

/** What somebody does. */
export type Step =
  | { readonly does: 'pass' }
  | { readonly does: 'wait'; readonly seconds: number }
  | { readonly does: 'move'; readonly move: Move }
  | {
      readonly does: 'arrive' | 'lie' | 'fallBack' | 'fail' | 'relabel' | 'deregister'
      readonly node: number
    }

type State = 'pending' | 'upgrading' | 'soaking' | 'done' | 'failed' | 'skipped'

interface Row {
  readonly node: number
  readonly wave: number
  readonly state: State
  readonly sinceMs: number
}

interface ModelNode {
  readonly isGone: boolean
  readonly isSelected: boolean
  /** What its last heartbeat said: the old version, the new one, or the new one with a wrong checksum. */
  readonly runs: 'old' | 'new' | 'lie'
  readonly saidMs: number
  readonly upgrade: 'none' | 'open' | 'failed' | 'cancelled'
}

export interface Model {
  readonly plan: Plan
  readonly nowMs: number
  readonly status: string
  readonly nodes: readonly ModelNode[]
  readonly rows: readonly Row[]
}

/** Everything that is seen when a walk went everywhere. */
export const EVERYTHING = [
  'cancelled',
  'completed',
  'done',
  'failed',
  'halted',
  'paused',
  'pending',
  'running',
  'skipped',
  'soaking',
  'upgrading',
]

export function initial(plan: Plan, count: number): Model {
  const node: ModelNode = { isGone: false, isSelected: true, runs: 'old', saidMs: 0, upgrade: 'none' }
  return { plan, nowMs: 0, status: 'pending', nodes: Array.from({ length: count }, () => node), rows: [] }
}

/** What can be seen of it. */
export function shows({ status, rows, nodes }: Model) {
  return {
    status,
    nodes: rows.map(({ node, wave, state }) => ({ node, wave, state })),
    upgrades: nodes.map(({ upgrade }) => upgrade),
  }
}

/** Takes a step: what it comes to, and how it is answered. `order`: the nodes in the order that the server chose for their turns. */
export function takes(model: Model, step: Step, order: readonly number[]): readonly [Model, string] {
  if (step.does === 'pass') return [passed(model), 'done']
  if (step.does === 'wait') return [waited(model, step.seconds), 'done']
  if (step.does === 'move') return moved(model, step.move, order)
  return [changed(model, step.node, CHANGES[step.does]), 'done']
}

/** All nodes go on saying what they said. */
function waited(model: Model, seconds: number): Model {
  const nowMs = model.nowMs + seconds * 1_000
  return { ...model, nowMs, nodes: model.nodes.map((node) => (node.isGone ? node : { ...node, saidMs: nowMs })) }
}

type Change = (node: ModelNode, nowMs: number) => Partial<ModelNode>

/** A heartbeat comes a millisecond after what was before. */
const CHANGES: Readonly<Record<Extract<Step, { node: number }>['does'], Change>> = {
  arrive: (_node, nowMs) => ({ runs: 'new', saidMs: nowMs }),
  lie: (_node, nowMs) => ({ runs: 'lie', saidMs: nowMs }),
  fallBack: (_node, nowMs) => ({ runs: 'old', saidMs: nowMs }),
  fail: ({ upgrade }) => ({ upgrade: upgrade === 'open' ? 'failed' : upgrade }),
  relabel: () => ({ isSelected: false }),
  deregister: () => ({ isGone: true, upgrade: 'none' }),
}

function changed(model: Model, at: number, change: Change): Model {
  const isHeartbeat = change === CHANGES.arrive || change === CHANGES.lie || change === CHANGES.fallBack
  const nowMs = model.nowMs + (isHeartbeat ? 1 : 0)
  const nodes = model.nodes.map((node, n) => (n === at && !node.isGone ? { ...node, ...change(node, nowMs) } : node))
  return { ...model, nowMs, nodes }
}

const FROM: Readonly<Record<Move, readonly string[]>> = {
  start: ['pending'],
  pause: ['running'],
  resume: ['paused'],
  cancel: ['pending', 'running', 'paused'],
}
const TO: Readonly<Record<Move, string>> = { start: 'running', pause: 'paused', resume: 'running', cancel: 'cancelled' }

function moved(model: Model, move: Move, order: readonly number[]): readonly [Model, string] {
  if (!FROM[move].includes(model.status)) return [model, 'illegal_transition']
  const to = { ...model, status: TO[move] }
  if (move === 'start') return [{ ...to, rows: divided(model, order) }, 'done']
  if (move !== 'cancel') return [to, 'done']
  // Agents here take an upgrade up only to say that it failed.
  const isWithdrawn = ({ node, state }: Row): boolean => state === 'upgrading' && model.nodes[node]?.upgrade === 'open'
  const withdrawn = new Set(model.rows.filter(isWithdrawn).map(({ node }) => node))
  const rows = model.rows.map((row): Row => (withdrawn.has(row.node) ? { ...row, state: 'skipped' } : row))
  const nodes = model.nodes.map((node, at): ModelNode => (withdrawn.has(at) ? { ...node, upgrade: 'cancelled' } : node))
  return [{ ...to, rows, nodes }, 'done']
}

/** The selected nodes in the order that the server chose, or in that of their numbers where it did not choose those. */
function divided({ plan, nodes, nowMs }: Model, order: readonly number[]): readonly Row[] {
  const selected = nodes.flatMap(({ isGone, isSelected }, at) => (!isGone && isSelected ? [at] : []))
  const isPermutation = order.toSorted().join() === selected.join()
  const ends = [
    [0, Math.min(plan.canaries, selected.length)] as const,
    ...plan.percents.map((percent, at) => [at + 1, Math.ceil((selected.length * percent) / 100)] as const),
  ]
  const waveAt = (place: number): number => ends.find(([, end]) => place < end)?.[0] ?? 0
  const turns = isPermutation ? order : selected
  return turns.map((node, place) => ({ node, wave: waveAt(place), state: 'pending', sinceMs: nowMs }))
}

/** One pass of the leader. */
function passed(model: Model): Model {
  const watched = { ...model, rows: model.rows.map((row) => watchedRow(model, row)) }
  if (watched.status !== 'running') return watched
  const failures = watched.rows.filter(({ state }) => state === 'failed').length
  if (failures > model.plan.failuresMax) return { ...watched, status: 'halted' }
  const current = watched.rows.find(({ state }) => !END.has(state))
  return current === undefined ? { ...watched, status: 'completed' } : turned(watched, current.wave)
}

const END: ReadonlySet<State> = new Set(['done', 'failed', 'skipped'])

function watchedRow({ plan, nodes, nowMs }: Model, row: Row): Row {
  const node = nodes[row.node]
  if (node === undefined || (row.state !== 'upgrading' && row.state !== 'soaking')) return row
  const state = row.state === 'upgrading' ? upgraded(row, node, plan) : soaked(row, node, { plan, nowMs })
  return state === row.state ? row : { ...row, state, sinceMs: nowMs }
}

function upgraded({ state, sinceMs }: Row, { isGone, upgrade, runs, saidMs }: ModelNode, plan: Plan): State {
  if (isGone) return 'skipped'
  if (upgrade === 'failed') return 'failed'
  if (runs === 'old' || saidMs <= sinceMs) return state
  if (runs === 'lie') return 'failed'
  return plan.soakSeconds === 0 ? 'done' : 'soaking'
}

function soaked(
  { state, sinceMs }: Row,
  { isGone, runs }: ModelNode,
  { plan, nowMs }: Pick<Model, 'plan' | 'nowMs'>,
): State {
  if (isGone) return 'skipped'
  if (runs !== 'new') return 'failed'
  return nowMs - sinceMs >= plan.soakSeconds * 1_000 ? 'done' : state
}

function turned(model: Model, wave: number): Model {
  const { plan, nowMs } = model
  let free = plan.inFlight - model.rows.filter(({ state }) => state === 'upgrading' || state === 'soaking').length
  const nodes = [...model.nodes]
  const rows = model.rows.map((row): Row => {
    const node = nodes[row.node]
    if (row.wave !== wave || row.state !== 'pending' || free <= 0 || node === undefined) return row
    if (node.isGone || !node.isSelected) return { ...row, state: 'skipped', sinceMs: nowMs }
    if (node.runs === 'new') return { ...row, state: 'done', sinceMs: nowMs }
    free -= 1
    nodes[row.node] = { ...node, upgrade: 'open' }
    return { ...row, state: 'upgrading', sinceMs: nowMs }
  })
  return { ...model, rows, nodes }
}
