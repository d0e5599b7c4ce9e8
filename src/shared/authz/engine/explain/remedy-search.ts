import type { ProposedTuple } from '../../explanation.ts'
import type { Askable, Expression, RelationModel } from '../../model.ts'
import { NONE } from '../edge-chains.ts'
import type { Steps } from '../../../steps.ts'
import { NO, YES } from '../verdict.ts'
import type { ReferenceNames } from './reference-names.ts'
import type { Asked, Reached, SubQuestions } from './sub-questions.ts'

/** Tuples that together might allow it, and how far from the object asked about they are. */
export interface Remedy {
  readonly tuples: readonly ProposedTuple[]
  /** Tuples between the object asked about and those proposed, over all of them. */
  readonly distance: number
}

/** Remedies that are kept of each part. */
const KEPT_MAX = 20

/** Maximum of groups, parents and the like examined per relation. */
const BRANCHES_MAX = 100

/** Maximum of relations and permissions of objects that one search examines. */
const QUESTIONS_MAX = 2_000

const NOTHING_NEEDED: readonly Remedy[] = [{ tuples: [], distance: 0 }]

export interface RemedyDeps extends Asked {
  readonly questions: SubQuestions
  readonly names: ReferenceNames
  /** The subject, `<type>:<id>`. */
  readonly subject: string
}

/**
 * Looks for tuples that would allow what is denied: direct grants on the object and along its arrows, and membership of
 * the groups that hold it. Proposes nothing that the service alone writes, nothing with a caveat, and nothing against an
 * exclusion, which no tuple can lift. Its results are candidates, not proven.
 */
export class RemedySearch {
  readonly #deps: RemedyDeps
  readonly #open = new Map<Askable, Map<number, readonly Remedy[] | undefined>>()
  #asked = 0

  constructor(deps: RemedyDeps) {
    this.#deps = deps
  }

  /** The cheapest first, at most twenty. */
  *find(): Steps<readonly Remedy[]> {
    const { resource, asked, userset } = this.#deps.question
    return userset === undefined ? yield* this.#member(resource, asked) : []
  }

  /** None for a part that is examined further up: a circular remedy is useless. */
  *#member(object: number, member: Askable): Steps<readonly Remedy[]> {
    yield* this.#deps.questions.pause()
    if (this.#deps.questions.of(object, member) === YES) return NOTHING_NEEDED
    const known = this.#open.get(member) ?? new Map<number, readonly Remedy[] | undefined>()
    this.#open.set(member, known)
    if (known.has(object)) return known.get(object) ?? []
    if (this.#asked++ >= QUESTIONS_MAX) return []
    known.set(object, undefined)
    const found =
      member.kind === 'permission'
        ? yield* this.#expression(object, member.expression)
        : yield* this.#relation(object, member)
    known.set(object, found)
    return found
  }

  *#relation(object: number, relation: RelationModel): Steps<readonly Remedy[]> {
    const { index } = this.#deps
    const found: Remedy[] = this.#isGrantable(relation) ? [this.#grant(object, relation)] : []
    const set = index.mayHave(object, relation) ? index.sets.find(object, relation.id) : NONE
    let edge = set === NONE ? NONE : index.firstSetSubject(set)
    for (let branch = 0; edge !== NONE && branch < BRANCHES_MAX; branch++, edge = index.bySet.next(edge)) {
      const inner = index.edges.b(edge) >> 1
      const member = index.members[index.sets.memberOf(inner)]
      if (member === undefined || this.#deps.questions.edge(edge) !== YES) continue
      found.push(...(yield* this.#member(index.sets.objectOf(inner), member)).map(further))
    }
    return best(found)
  }

  /** Whether the subject may be granted the relation by itself and without a condition. */
  #isGrantable({ structural, subjects }: RelationModel): boolean {
    const { subjectType } = this.#deps.question
    return (
      !structural &&
      subjects.some(
        ({ type, kind, caveat, expires }) =>
          type === subjectType && kind === 'object' && caveat === undefined && !expires,
      )
    )
  }

  #grant(object: number, { name }: RelationModel): Remedy {
    const { subject, names } = this.#deps
    return { tuples: [{ subject, relation: name, resource: names.object(object) }], distance: 0 }
  }

  *#expression(object: number, expression: Expression): Steps<readonly Remedy[]> {
    const { op, parts, reference } = expression
    if ((yield* this.#deps.questions.ofExpression(object, expression)) === YES) return NOTHING_NEEDED
    if (reference !== undefined) return yield* this.#member(object, reference)
    if (op === 'union') return yield* this.#union(object, parts)
    if (op === 'intersection') return yield* together(parts.map((part) => () => this.#expression(object, part)))
    if (op === 'exclusion') return yield* this.#exclusion(object, parts)
    if (op === 'arrow') return yield* this.#arrow(object, expression)
    return op === 'all' ? yield* this.#all(object, expression) : []
  }

  *#union(object: number, parts: readonly Expression[]): Steps<readonly Remedy[]> {
    const found: Remedy[] = []
    for (const part of parts) found.push(...(yield* this.#expression(object, part)))
    return best(found)
  }

  *#exclusion(object: number, [from, without]: readonly Expression[]): Steps<readonly Remedy[]> {
    if (from === undefined || without === undefined) return []
    const excluded = yield* this.#deps.questions.ofExpression(object, without)
    return excluded === YES ? [] : yield* this.#expression(object, from)
  }

  *#arrow(object: number, expression: Expression): Steps<readonly Remedy[]> {
    const found: Remedy[] = []
    let branch = 0
    for (const reached of this.#deps.questions.reached(object, expression)) {
      if (++branch > BRANCHES_MAX) break
      found.push(...(yield* this.#beyond(reached)))
    }
    return best(found)
  }

  *#all(object: number, expression: Expression): Steps<readonly Remedy[]> {
    const { questions } = this.#deps
    const live: Reached[] = []
    for (const reached of questions.reached(object, expression)) {
      yield* questions.pause()
      if (questions.edge(reached.edge) !== NO) live.push(reached)
    }
    return live.length === 0 ? [] : yield* together(live.map((reached) => () => this.#beyond(reached)))
  }

  *#beyond({ edge, object, target }: Reached): Steps<readonly Remedy[]> {
    if (target === undefined || this.#deps.questions.edge(edge) !== YES) return []
    return (yield* this.#member(object, target)).map(further)
  }
}

const further = ({ tuples, distance }: Remedy): Remedy => ({ tuples, distance: distance + tuples.length })

/** One remedy of each part, in every combination that is worth keeping. */
function* together(parts: readonly (() => Steps<readonly Remedy[]>)[]): Steps<readonly Remedy[]> {
  let found = NOTHING_NEEDED
  for (const part of parts) {
    const more = yield* part()
    found = best(found.flatMap((one) => more.map((other) => joined(one, other))))
    if (found.length === 0) return []
  }
  return found
}

function joined(one: Remedy, other: Remedy): Remedy {
  const known = new Set(one.tuples.map(keyOf))
  const added = other.tuples.filter((tuple) => !known.has(keyOf(tuple)))
  return { tuples: [...one.tuples, ...added], distance: one.distance + other.distance }
}

/** The fewest tuples first, of as many the nearest; each set once. */
function best(remedies: readonly Remedy[]): readonly Remedy[] {
  const sorted = remedies.toSorted((a, b) => a.tuples.length - b.tuples.length || a.distance - b.distance)
  const seen = new Map(sorted.toReversed().map((remedy) => [setKeyOf(remedy), remedy]))
  return sorted.filter((remedy) => seen.get(setKeyOf(remedy)) === remedy).slice(0, KEPT_MAX)
}

const keyOf = ({ subject, relation, resource }: ProposedTuple): string => `${resource}#${relation}@${subject}`

const setKeyOf = ({ tuples }: Remedy): string => tuples.map(keyOf).toSorted().join(' ')
