import type { Decision } from '../../ports/authorizer.ts'
import type { Leg } from '../operation-plan.ts'
import type { TemplateSources } from '../template.ts'

/** A leg of a gate with its holes filled. */
export interface Question {
  readonly relation: string
  readonly resource: string
}

/** The result of a gate's legs: `held`, or the check that the refusal names; undefined where no leg could be checked. */
export type Outcome = 'held' | Question | undefined

type Ask = (question: Question, leg: Leg) => Decision | Promise<Decision>

/** The question of a leg; undefined where the body does not select the leg, or a hole of it stays empty. */
export function questionOf(leg: Leg, sources: TemplateSources): Question | undefined {
  if (!isSelected(leg, sources)) return undefined
  const relation = leg.relation.render(sources)
  const resource = leg.object.render(sources)
  return relation === undefined || resource === undefined ? undefined : { relation, resource }
}

function isSelected({ when }: Leg, { body }: TemplateSources): boolean {
  return when === undefined || body?.[when.member] === when.is
}

/** Asks until one leg is held. Synchronous where every decision is. */
export function askAny(legs: readonly Leg[], sources: TemplateSources, ask: Ask): Outcome | Promise<Outcome> {
  let first: Question | undefined
  for (const [index, leg] of legs.entries()) {
    const question = questionOf(leg, sources)
    if (question === undefined) continue
    first ??= question
    const named = first
    const decision = ask(question, leg)
    if (decision instanceof Promise) return decision.then(({ allowed }) => (allowed ? 'held' : rest(index + 1, named)))
    if (decision.allowed) return 'held'
  }
  return first

  async function rest(from: number, named: Question): Promise<Outcome> {
    return (await askAny(legs.slice(from), sources, ask)) === 'held' ? 'held' : named
  }
}

/**
 * Asks until one leg is not held. Synchronous where every decision is.
 *
 * @throws Error where a leg has a hole that the request leaves empty: skipping it would admit the caller.
 */
export function askAll(legs: readonly Leg[], sources: TemplateSources, ask: Ask): Outcome | Promise<Outcome> {
  let outcome: Outcome
  for (const [index, leg] of legs.entries()) {
    if (!isSelected(leg, sources)) continue
    const question = questionOf(leg, sources)
    if (question === undefined)
      throw new Error(`nothing fills the holes of the leg ${leg.relation.text} on ${leg.object.text}`)
    const decision = ask(question, leg)
    if (decision instanceof Promise) return decision.then(({ allowed }) => (allowed ? rest(index + 1) : question))
    if (!decision.allowed) return question
    outcome = 'held'
  }
  return outcome

  async function rest(from: number): Promise<Outcome> {
    return (await askAll(legs.slice(from), sources, ask)) ?? 'held'
  }
}
