import { problem } from '../../../shared/problems.ts'
import type { Authorizer, CaveatFacts, Decision } from '../../ports/authorizer.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import { isGatedAt, type Leg, type OperationPlan, type RowFilter } from '../operation-plan.ts'
import { askAll, askAny, questionOf, type Outcome, type Question } from './leg-questions.ts'
import { foldedDenial, permissionDenied, type MissingRelation, type Refusal } from './refusal.ts'
import type { CompiledTemplate, Stage, TemplateSources } from '../template.ts'

/** Who asks, and what the server knows of the moment. */
export interface Asker {
  readonly caller: Caller
  readonly facts: CaveatFacts
  /** Whether a recent answer is enough while the engine is unavailable. */
  readonly mayBeStale: boolean
  /** Called when such an answer was used, with the time, in ms, since which the engine has been unavailable. */
  degraded(sinceMs: number): void
  /** Called with the name of the leg that admitted the caller, where the contract gives it one. */
  grantedBy(name: string): void
}

/** The stage of a request, and what is known about it at that stage. */
export interface GateMoment {
  readonly stage: Stage
  readonly sources: TemplateSources
}

/** Enforces gates, scopes and node identity as the contract declares them. Results are synchronous where possible. */
export interface Gatekeeper {
  /** Refuses a token whose scopes do not cover the operation. */
  checkScope(plan: OperationPlan, caller: Caller, sources: TemplateSources): void
  /** Refuses a node's credential on another node's path. */
  checkOwnNode(plan: OperationPlan, caller: Caller, path: Readonly<Record<string, unknown>>): void
  /** Admits the owner; else asks the legs of a stage in order, and throws the refusal when none is held, or not all where the gate needs all. */
  passGate(plan: OperationPlan, asker: Asker, at: GateMoment): void | Promise<void>
  /** Asks one leg without refusing. An unfilled hole denies. */
  asks(leg: Leg, asker: Asker, sources: TemplateSources): boolean | Promise<boolean>
  /** Whether a row of a page is the caller's own, or one of the filter's legs is held. */
  shows(filter: RowFilter, asker: Asker, sources: TemplateSources): boolean | Promise<boolean>
  holds(asker: Asker, relation: string, object: string): boolean | Promise<boolean>
  /** Refuses with PermissionDenied unless the relation is held. */
  require(asker: Asker, relation: string, object: string): void | Promise<void>
}

/** Creates the gatekeeper over an authorizer; without one every check is 501 with the operation's own code. */
export function createGatekeeper(authorizer: Authorizer | undefined): Gatekeeper {
  function engine(plan?: OperationPlan): Authorizer {
    if (authorizer === undefined) throw problem(plan?.operation.notProvisioned ?? 'authz_not_provisioned')
    return authorizer
  }

  function decide(from: Authorizer, asker: Asker, question: Question): Decision | Promise<Decision> {
    const { caller, facts, mayBeStale } = asker
    const decision = from.check({ subject: caller.subject, ...question, facts, wantPath: false, mayBeStale })
    return decision instanceof Promise ? decision.then((late) => noted(asker, late)) : noted(asker, decision)
  }

  function noted(asker: Asker, decision: Decision): Decision {
    if (decision.staleSinceMs !== undefined) asker.degraded(decision.staleSinceMs)
    return decision
  }

  function holds(asker: Asker, relation: string, object: string): boolean | Promise<boolean> {
    const decision = decide(engine(), asker, { relation, resource: object })
    return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed
  }

  function denied(missing: MissingRelation, plan?: OperationPlan): Refusal {
    const fold = plan?.operation.gate.fold
    if (fold !== undefined) return foldedDenial(fold, missing)
    const type = missing.object.slice(0, Math.max(0, missing.object.indexOf(':')))
    return permissionDenied(missing, 'insufficient_relation', engine(plan).pathOf(type, missing.relation))
  }

  /** Whether one of the legs is held. */
  function asksAny(legs: readonly Leg[], asker: Asker, sources: TemplateSources): boolean | Promise<boolean> {
    const outcome = askAny(legs, sources, (question) => decide(engine(), asker, question))
    return outcome instanceof Promise ? outcome.then((late) => late === 'held') : outcome === 'held'
  }

  /** Refuses by the gate. Where the denial is folded for some callers only, asks whether this is one of them. */
  function refuse(plan: OperationPlan, asker: Asker, at: Unmet): void | Promise<void> {
    const missing = missingOf(plan, asker, at)
    if (!isFoldedAt(plan, at.stage)) throw denied(missing)
    const refuseBy = (isFolded: boolean): void => {
      throw isFolded ? denied(missing, plan) : denied(missing)
    }
    const folded = isFoldedFor(plan, asker, at.sources)
    return folded instanceof Promise ? folded.then(refuseBy) : refuseBy(folded)
  }

  /** Whether the contract folds the denial for this caller, where it folds at all. */
  function isFoldedFor(
    { foldFor, foldUnless }: OperationPlan,
    asker: Asker,
    sources: TemplateSources,
  ): boolean | Promise<boolean> {
    if (foldFor !== undefined) return asksAny([foldFor], asker, sources)
    if (foldUnless.length === 0) return true
    const held = asksAny(foldUnless, asker, sources)
    return held instanceof Promise ? held.then((late) => !late) : !held
  }

  function passGate(plan: OperationPlan, asker: Asker, { stage, sources }: GateMoment): void | Promise<void> {
    if (!isGatedAt(plan, stage) || plan.skipFor.has(asker.caller.credential.kind)) return undefined
    if (isOwner(plan.own, asker, sources)) return undefined
    const legs = plan.legsAt[stage]
    const from = engine(plan)
    const ask = (question: Question, leg: Leg): Decision | Promise<Decision> => {
      const decision = decide(from, asker, question)
      if (leg.grantedBy === undefined) return decision
      return decision instanceof Promise
        ? decision.then((late) => named(leg.grantedBy, asker, late))
        : named(leg.grantedBy, asker, decision)
    }
    const outcome = (plan.needsAllLegs ? askAll : askAny)(legs, sources, ask)
    return outcome instanceof Promise
      ? outcome.then((late) => conclude(plan, asker, { outcome: late, stage, sources }))
      : conclude(plan, asker, { outcome, stage, sources })
  }

  function conclude(plan: OperationPlan, asker: Asker, at: Concluded): void | Promise<void> {
    return at.outcome === 'held' ? undefined : refuse(plan, asker, { ...at, first: at.outcome })
  }

  return {
    passGate,
    holds,
    checkScope(plan, caller, sources) {
      if (plan.operation.anyScope === true) return
      const { scopes } = caller.credential
      if (scopes.includes('*') || scopes.includes(plan.scope)) return
      if (plan.scopeImpliedBy !== undefined && scopes.includes(plan.scopeImpliedBy)) return
      const [first] = plan.legs
      const question = (first && questionOf(first, sources)) ?? { relation: plan.scope, resource: caller.subject }
      const missing = { object: question.resource, relation: question.relation, subject: caller.subject }
      throw permissionDenied(missing, 'out_of_scope', [])
    },
    checkOwnNode({ operation: { gate } }, caller, path) {
      if (gate.ownNode === undefined || caller.kind !== 'node') return
      const node = path[gate.ownNode.param]
      if (caller.id === node) return
      const missing = { object: `node:${String(node)}`, relation: 'self', subject: caller.subject }
      throw foldedDenial(gate.ownNode.mismatch, missing)
    },
    asks: (leg, asker, sources) => asksAny([leg], asker, sources),
    shows: ({ own, legs }, asker, sources) => isOwner(own, asker, sources) || asksAny(legs, asker, sources),
    require(asker, relation, object) {
      const refuseUnless = (held: boolean): void => {
        if (!held) throw denied({ object, relation, subject: asker.caller.subject })
      }
      const held = holds(asker, relation, object)
      return held instanceof Promise ? held.then(refuseUnless) : refuseUnless(held)
    },
  }
}

/** Tells which leg admitted the caller. */
function named(name: string | undefined, asker: Asker, decision: Decision): Decision {
  if (name !== undefined && decision.allowed) asker.grantedBy(name)
  return decision
}

/** Whether the subject that the template gives is the caller's. */
function isOwner(own: CompiledTemplate | undefined, { caller }: Asker, sources: TemplateSources): boolean {
  return own !== undefined && own.render(sources) === caller.subject
}

/** A denied gate; `first` is the check that its refusal names unless the contract names another. */
interface Unmet extends GateMoment {
  readonly first: Question | undefined
}

interface Concluded extends GateMoment {
  readonly outcome: Outcome
}

/** Where all legs are required, only what is decided last is hidden: the legs before it name what the caller named. */
function isFoldedAt({ needsAllLegs, gateStage }: OperationPlan, stage: Stage): boolean {
  return !needsAllLegs || stage === gateStage
}

/** The check that the refusal names: the contract's choice, else the result of the legs. */
function missingOf(plan: OperationPlan, { caller: { subject } }: Asker, { first, sources }: Unmet): MissingRelation {
  const question = (plan.denial && questionOf(plan.denial, sources)) ?? first
  if (question === undefined) throw new Error(`${plan.id}: no leg of the gate could be asked`)
  return { object: question.resource, relation: question.relation, subject }
}
