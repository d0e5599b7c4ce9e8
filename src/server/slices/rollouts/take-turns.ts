import type { IdSource } from '../../ports/clock.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { newExecution } from '../../executions/new-execution.ts'
import { requestExecutions } from '../../executions/request-executions.ts'
import { bindStored } from '../../policies/bound-selectors.ts'
import { evaluateNodes } from '../../policies/evaluate-nodes.ts'
import type { UpgradeTarget } from '../../releases/upgrade-target.ts'
import { holdNodes } from '../../sql/hold-node.ts'
import { SYSTEM } from './rollout.ts'
import type { RolloutRecord } from './store.ts'
import { parametersOf, turnOf } from './turn.ts'
import { readCandidates, skipUnreachable, writeTaken, type Candidate, type Taken } from './turns-store.ts'

/** Nodes that are looked at in one transaction, at most. */
const CANDIDATES_MAX = 500
/** How long an agent has for an upgrade, from the request to its report. */
const UPGRADE_SECONDS = 1_800

const UNREACHABLE = 'The node was not reachable when it was its turn.'

/** The turns of a wave, of which so many may become upgrades. */
export interface Turns {
  readonly rollout: RolloutRecord
  readonly target: UpgradeTarget
  readonly wave: number
  readonly upgradesMax: number
  readonly now: Date
}

/** How many nodes got a new state, and whether others may get one at once. */
export interface TurnsTaken {
  readonly taken: number
  readonly isMore: boolean
}

/**
 * Takes the next turns of a wave. Where no node is left but those that are out of reach, and nothing of the wave is in flight, those
 * are skipped.
 */
export async function takeTurns(change: Change, turns: Turns, ids: IdSource): Promise<TurnsTaken> {
  const { rollout, wave, now } = turns
  const candidates = await readCandidates(change.db, turns, CANDIDATES_MAX)
  if (candidates.length === 0) {
    const skipped = isInFlight(turns) ? 0 : await skipUnreachable(change.db, { rollout, wave, now }, UNREACHABLE)
    return { taken: skipped, isMore: skipped > 0 }
  }
  const { ended, begun } = await decide(change, turns, candidates)
  const upgrading = await begin(change, turns, { begun, ids })
  await writeTaken(change.db, [...ended, ...upgrading], { rolloutId: rollout.id, at: now })
  const isMore = ended.length > 0 || candidates.length === CANDIDATES_MAX
  return { taken: ended.length + upgrading.length, isMore: isMore && begun.length < turns.upgradesMax }
}

function isInFlight({ rollout: { progress }, wave }: Turns): boolean {
  const counts = progress.find((each) => each.wave === wave)?.counts
  return counts !== undefined && counts.upgrading + counts.soaking > 0
}

interface Decided {
  readonly ended: readonly Taken[]
  readonly begun: readonly Candidate[]
}

/** Decides turns in their order until no more upgrades may begin. */
async function decide(change: Change, turns: Turns, candidates: readonly Candidate[]): Promise<Decided> {
  const { rollout, target, upgradesMax } = turns
  const rules = { rollout, target, matching: await matchingOf(change, rollout, candidates) }
  const ended: Taken[] = []
  const begun: Candidate[] = []
  for (const candidate of candidates) {
    const turn = turnOf(candidate, rules)
    if (turn.does === 'end')
      ended.push({ nodeId: candidate.nodeId, state: turn.state, reason: turn.reason, executionId: null })
    else if (begun.push(candidate) === upgradesMax) break
  }
  return { ended, begun }
}

async function matchingOf(
  { db }: Change,
  { domain_id: domainId, selector }: RolloutRecord,
  candidates: readonly Candidate[],
): Promise<ReadonlySet<string>> {
  const bound = await bindStored(db, domainId, [selector])
  const nodes = candidates.map(({ nodeId: id, projectId }) => ({ id, projectId }))
  const select = await evaluateNodes(db, domainId, { nodes, bound, isAll: false })
  return new Set(select(selector))
}

/** Asks the agents of nodes for the upgrade, unless a node was deregistered meanwhile: its turn comes again. */
async function begin(
  change: Change,
  { rollout: { domain_id: domainId }, target, now }: Turns,
  { begun, ids }: { readonly begun: readonly Candidate[]; readonly ids: IdSource },
): Promise<readonly Taken[]> {
  const held = await holdNodes(
    change.db,
    begun.map(({ nodeId }) => nodeId),
  )
  const requested = begun
    .filter(({ nodeId }) => held.has(nodeId))
    .map((candidate) => {
      const request = { id: ids.next(), nodeId: candidate.nodeId, domainId, requestedBy: SYSTEM, at: now }
      const parameters = parametersOf(target, candidate)
      const upgrade = { action: 'upgrade_agent', type: 'builtin', expires_in_seconds: UPGRADE_SECONDS } as const
      return newExecution(request, { ...upgrade, parameters })
    })
  await requestExecutions(change, requested)
  return requested.map(({ id, node_id }) => ({ nodeId: node_id, state: 'upgrading', reason: null, executionId: id }))
}
