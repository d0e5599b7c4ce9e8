import { type Counts, type Quantity, ZERO } from './counts.ts'
import { pausing, type PauseCondition } from './pause-on.ts'

/** As much of a node as the waves are planned by. */
export interface PlannedNode {
  readonly id: string
  readonly display_name: string
  readonly reachability: string
  /** UTC with nine fractional digits: texts of one width, so they compare as texts. */
  readonly psk_issued_at: string
  readonly rotation_pending: boolean
}

export interface WaveRules {
  /** Nodes of one wave at most. */
  readonly batch: number
  /** A wave begins only while no more nodes are unavailable; undefined: whatever their number. */
  readonly unavailableMax: number | undefined
  readonly pauseOn: readonly PauseCondition[]
  /** How long a wave waits for its nodes, and a wave for its turn. */
  readonly waveTimeoutMs: number
  /** Between the end of a wave and the next one. */
  readonly pauseMs: number
}

/** What a run has done so far. */
export interface RunSoFar {
  readonly startedMs: number
  /** Keys issued at this instant or later are the run's own, and need no other rotation. */
  readonly since: string
  /** `psk_issued_at` when the run began, by node id: a replica whose clock is behind may issue before `since`. */
  readonly issuedBefore: ReadonlyMap<string, string>
  /** When the wave of a node began, by node id. */
  readonly begunMs: ReadonlyMap<string, number>
  /** Codes of the refusals of the server, by node id. */
  readonly refused: ReadonlyMap<string, string>
  /** When the last wave was seen to have ended; undefined before that. */
  readonly settledMs: number | undefined
  /** Counts at which somebody agreed to go on. */
  readonly agreedTo: Counts
}

/** A node by id; one that is not there any more is undefined. */
export type Chosen = ReadonlyMap<string, PlannedNode | undefined>

export type Outcome = 'rotated' | 'pending' | 'not_begun' | 'refused' | 'deregistered' | 'skipped'

export type Step =
  | { readonly kind: 'begin'; readonly ids: readonly string[] }
  /** Nothing to do before `untilMs` unless the fleet changes. */
  | { readonly kind: 'wait'; readonly why: 'wave'; readonly untilMs: number; readonly ids: readonly string[] }
  | { readonly kind: 'wait'; readonly why: 'pause' | 'unavailable'; readonly untilMs: number }
  | { readonly kind: 'ask'; readonly reason: string; readonly counts: Counts }
  | { readonly kind: 'end' }

/** What became of a node. */
export function outcomeOf(id: string, node: PlannedNode | undefined, run: RunSoFar): Outcome {
  if (node === undefined) return 'deregistered'
  if (!node.rotation_pending && isReplaced(node, run)) return 'rotated'
  if (run.refused.has(id)) return 'refused'
  return run.begunMs.has(id) ? 'pending' : 'not_begun'
}

function isReplaced({ id, psk_issued_at: issued }: PlannedNode, { since, issuedBefore }: RunSoFar): boolean {
  return issued >= since || issued !== (issuedBefore.get(id) ?? issued)
}

/** Decides what a run does next. Pure: the same fleet, rules, run and instant give the same step. */
export function nextStep(chosen: Chosen, rules: WaveRules, { run, nowMs }: { run: RunSoFar; nowMs: number }): Step {
  const nodes = [...chosen].map(([id, node]) => ({ id, node, outcome: outcomeOf(id, node, run) }))
  const open = nodes.flatMap(({ id, node, outcome }) => {
    const untilMs = (run.begunMs.get(id) ?? 0) + rules.waveTimeoutMs
    return outcome === 'pending' && isInReach(node) && nowMs < untilMs ? [{ id, untilMs }] : []
  })
  if (open.length > 0)
    return {
      kind: 'wait',
      why: 'wave',
      untilMs: Math.min(...open.map(({ untilMs }) => untilMs)),
      ids: open.map(({ id }) => id),
    }
  const left = nodes.flatMap(({ node, outcome }) => (outcome === 'not_begun' && node ? [node] : []))
  if (left.length === 0) return { kind: 'end' }
  return nextWave({ chosen, rules, run, nowMs, left })
}

interface Planning {
  readonly chosen: Chosen
  readonly rules: WaveRules
  readonly run: RunSoFar
  readonly nowMs: number
  readonly left: readonly PlannedNode[]
}

/** Begins a wave, or says what is in its way. */
function nextWave({ chosen, rules, run, nowMs, left }: Planning): Step {
  const counts = countsOf(chosen, rules, { run, nowMs })
  const condition = pausing(rules.pauseOn, counts, run.agreedTo)
  if (condition) return { kind: 'ask', reason: `${condition.text} (${counts[condition.quantity]} now)`, counts }
  const freeMs = run.settledMs === undefined ? run.startedMs : run.settledMs + rules.pauseMs
  if (nowMs < freeMs) return { kind: 'wait', why: 'pause', untilMs: freeMs }
  const unavailableMax = Math.max(rules.unavailableMax ?? Infinity, run.agreedTo.unavailable)
  if (counts.unavailable > unavailableMax) {
    const untilMs = freeMs + rules.waveTimeoutMs
    if (nowMs < untilMs) return { kind: 'wait', why: 'unavailable', untilMs }
    return { kind: 'ask', reason: `${counts.unavailable} nodes are unavailable, of ${unavailableMax} allowed`, counts }
  }
  return {
    kind: 'begin',
    ids: inWaveOrder(left)
      .slice(0, rules.batch)
      .map(({ id }) => id),
  }
}

/** Counts what conditions compare. */
export function countsOf(
  chosen: Chosen,
  { waveTimeoutMs }: Pick<WaveRules, 'waveTimeoutMs'>,
  { run, nowMs }: { run: RunSoFar; nowMs: number },
): Counts {
  const counts: Record<Quantity, number> = { ...ZERO }
  for (const [id, node] of chosen) {
    if (node === undefined) continue
    const outcome = outcomeOf(id, node, run)
    const isPending = node.rotation_pending || outcome === 'pending'
    const isLate = outcome === 'pending' && isInReach(node) && nowMs >= (run.begunMs.get(id) ?? 0) + waveTimeoutMs
    counts.unreachable += Number(node.reachability === 'unreachable')
    counts.stale += Number(node.reachability === 'stale')
    counts.unavailable += Number(node.reachability !== 'healthy' || isPending)
    counts.pending += Number(isPending)
    counts.timeout += Number(isLate)
    counts.refused += Number(outcome === 'refused')
  }
  return counts
}

/** An unreachable node rotates once it is back: no wave waits for it. */
function isInReach(node: PlannedNode | undefined): boolean {
  return node?.reachability === 'healthy' || node?.reachability === 'stale'
}

/** Nodes by name, those in reach first: whether the first waves end says most. */
export function inWaveOrder<N extends PlannedNode>(nodes: readonly N[]): readonly N[] {
  const rank = (node: N): number => (isInReach(node) ? 0 : 1)
  return nodes.toSorted((one, other) => rank(one) - rank(other) || byName(one, other))
}

function byName(one: PlannedNode, other: PlannedNode): number {
  if (one.display_name === other.display_name) return one.id < other.id ? -1 : 1
  return one.display_name < other.display_name ? -1 : 1
}
