import { createBatching, laneOfTwo } from '../../http/batching.ts'
import { runShared } from '../../http/shared-change.ts'
import type { IdSource } from '../../ports/clock.ts'
import { isUnwritable } from '../../ports/datastore.ts'
import type { CarriedAudit, Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import { enrolAgain, enrolAll, type Enrolled, type Joining } from './enrolment.ts'
import { countUses, type Enrolment, type JoinTerms } from './registration-store.ts'

export interface RegistrarDeps {
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}

/** An enrolment with the plain secret key for the node. */
export interface Prepared extends Enrolment {
  readonly name: string
  readonly nsk: string
}

/** A registration with its request. */
export interface Applicant {
  /** Of the token. */
  readonly domainId: string
  readonly tokenId: string
  readonly correlationId: string
  /** What is stored where the token is for new nodes. */
  readonly asNew: Prepared
  /** Makes what is stored where the token is for a known node. */
  readonly asKnown: (nodeId: string) => Promise<Prepared>
  /** Names the enrolled node in the audit row of the request, and gives that row. */
  readonly audit: (nodeId: string, domainId: string) => CarriedAudit
}

export interface Registered {
  readonly terms: JoinTerms
  readonly node: Enrolled
  /** The node's plain secret key. */
  readonly nsk: string
}

type Outcome = PromiseSettledResult<Registered>

const BOUNDS = { batchMax: 64, waitingMax: 4_096 } as const

/**
 * Creates the registrar, which enrols nodes in batches, each in one transaction: every registration takes the revision of
 * authorization, which the one before it holds until its commit is durable.
 *
 * It rejects with the problems of `countUses`, `enrolAll` and `enrolAgain`, each for the registration that it is about, and
 * with `datastore_unavailable` where too many wait.
 */
export function createRegistrar(deps: RegistrarDeps): (applicant: Applicant) => Promise<Registered> {
  const settle = createBatching({
    ...BOUNDS,
    laneOf: ({ domainId }) => laneOfTwo(domainId),
    async run(applicants: readonly Applicant[]) {
      const outcomes = await settleAll(deps, applicants)
      // Those that wait in the lane would fail alike.
      for (const outcome of outcomes.every(isUnwritten) ? outcomes : [])
        if (outcome.status === 'rejected') throw outcome.reason
      return outcomes
    },
  })
  return async (applicant) => {
    const outcome = await settle(applicant)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
}

const isUnwritten = (outcome: Outcome): boolean => outcome.status === 'rejected' && isUnwritable(outcome.reason)

/** A registration that is refused must not fail its neighbours: the batch is halved until it is alone. */
async function settleAll(deps: RegistrarDeps, applicants: readonly Applicant[]): Promise<readonly Outcome[]> {
  try {
    const registered = await registerAll(deps, applicants)
    return registered.map((value) => ({ status: 'fulfilled', value }))
  } catch (reason) {
    if (applicants.length === 1 || isUnwritable(reason)) return applicants.map(() => ({ status: 'rejected', reason }))
    const half = applicants.length >> 1
    const first = await settleAll(deps, applicants.slice(0, half))
    return [...first, ...(await settleAll(deps, applicants.slice(half)))]
  }
}

/** Enrols all of them in one transaction, with their audit rows, or none. */
function registerAll(deps: RegistrarDeps, applicants: readonly Applicant[]): Promise<readonly Registered[]> {
  return runShared(deps, applicants, async (made) => {
    const change = attributed(made, applicants)
    // Each token was valid when its request was admitted.
    const nowMs = Math.min(...applicants.map(({ asNew }) => asNew.atMs))
    const uses = await countUses(change.db, countsOf(applicants), nowMs)
    const result = await enrolEach({ change, uses, ids: deps.ids }, applicants)
    const audits = result.map(({ node, terms }, at) => applicants[at]?.audit(node.nodeId, terms.domainId))
    return { result, audits: audits.filter(isThere) }
  })
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined

function countsOf(applicants: readonly Applicant[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { tokenId } of applicants) counts.set(tokenId, (counts.get(tokenId) ?? 0) + 1)
  return counts
}

async function enrolEach(joining: Joining, applicants: readonly Applicant[]): Promise<readonly Registered[]> {
  const { change, uses } = joining
  const [first] = applicants
  const terms = first && uses.terms.get(first.tokenId)
  if (first !== undefined && terms !== undefined && terms.nodeId !== null) {
    const prepared = await first.asKnown(terms.nodeId)
    return [{ terms, node: await enrolAgain(change, terms, prepared), nsk: prepared.nsk }]
  }
  const newcomers = applicants.map(({ tokenId, asNew }) => ({ ...asNew, tokenId }))
  const nodes = await enrolAll(joining, newcomers)
  return nodes.map((node) => ({ terms: node.terms, node, nsk: node.nsk }))
}

/** The change, whose events about a node have the correlation id of its request. */
function attributed(change: Change, applicants: readonly Applicant[]): Change {
  const correlationIds = new Map(applicants.map(({ asNew, correlationId }) => [`node:${asNew.nodeId}`, correlationId]))
  return {
    ...change,
    emit(event) {
      const correlationId = correlationIds.get(event.aggregate)
      change.emit(correlationId === undefined ? event : { ...event, correlationId })
    },
  }
}
