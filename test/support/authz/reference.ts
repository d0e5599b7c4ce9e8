import { NO, UNKNOWN, YES, type Verdict } from '../../../src/shared/authz/engine/verdict.ts'
import type { Askable, Expression, Model } from '../../../src/shared/authz/model.ts'
import type { TupleColumns } from '../../../src/shared/authz/tuple.ts'

/** A tuple and how far its caveat holds. */
export interface WeighedTuple {
  readonly tuple: TupleColumns
  readonly verdict: Verdict
}

/** What is asked about: by whom, of which objects, over which tuples. */
interface World {
  readonly model: Model
  readonly tuples: readonly WeighedTuple[]
  readonly objects: readonly string[]
  readonly subject: string
}

/** Verdicts by `type:id#name`; what is missing is NO. */
type Valuation = ReadonlyMap<string, Verdict>

/** Where an expression is evaluated: `values` for what grants, `excluded` for what is taken away. */
interface Position extends World {
  readonly object: string
  readonly values: Valuation
  readonly excluded: Valuation
}

/**
 * The meaning of a schema, written for clarity and not for speed: the verdict of everything for one subject, by the
 * alternating fixpoint of the well-founded semantics. `undefined` where an exclusion rests on itself and whether it grants is open.
 */
export function referenceVerdicts(world: World): (key: string) => Verdict | undefined {
  let low: Valuation = new Map()
  let high = least(world, low)
  for (let isSettled = false; !isSettled;) {
    const nextLow = least(world, high)
    const nextHigh = least(world, nextLow)
    isSettled = isSame(low, nextLow) && isSame(high, nextHigh)
    low = nextLow
    high = nextHigh
  }
  return (key) => {
    const lower = low.get(key) ?? NO
    const upper = high.get(key) ?? NO
    return lower === upper || upper < UNKNOWN ? lower : undefined
  }
}

/** The least valuation in which exclusions read `excluded`. */
function least(world: World, excluded: Valuation): Valuation {
  const questions = world.objects.flatMap((object) => {
    const type = world.model.type(object.slice(0, object.indexOf(':')))
    return [...(type?.askable.values() ?? [])].map((asked) => ({ key: `${object}#${asked.name}`, object, asked }))
  })
  const values = new Map<string, Verdict>()
  for (let isChanged = true; isChanged;) {
    isChanged = false
    for (const { key, object, asked } of questions) {
      const verdict = verdictOf(asked, { ...world, object, values, excluded })
      isChanged ||= verdict !== (values.get(key) ?? NO)
      values.set(key, verdict)
    }
  }
  return values
}

function verdictOf(asked: Askable, position: Position): Verdict {
  if (asked.kind === 'permission') return evaluate(asked.expression, position)
  const verdicts = edgesOf(asked.name, position).map(({ tuple, verdict }) => Math.min(verdict, bears(tuple, position)))
  return highest(verdicts)
}

function edgesOf(relation: string | undefined, { tuples, object }: Position): WeighedTuple[] {
  return tuples.filter(({ tuple }) => {
    return `${tuple.resource_type}:${tuple.resource_id}` === object && tuple.relation === relation
  })
}

/** Whether the subject is who the tuple names. */
function bears(tuple: TupleColumns, { values, subject }: Position): Verdict {
  const bearer = `${tuple.subject_type}:${tuple.subject_id}`
  if (tuple.subject_relation !== '') return values.get(`${bearer}#${tuple.subject_relation}`) ?? NO
  const isEveryone = tuple.subject_id === '*' && subject.startsWith(`${tuple.subject_type}:`)
  return bearer === subject || isEveryone ? YES : NO
}

function evaluate(expression: Expression, position: Position): Verdict {
  switch (expression.op) {
    case 'reference':
      return position.values.get(`${position.object}#${expression.reference?.name}`) ?? NO
    case 'arrow':
      return arrow(expression, position)
    case 'union':
      return highest(expression.parts.map((part) => evaluate(part, position)))
    case 'intersection':
      return Math.min(...expression.parts.map((part) => evaluate(part, position)))
    case 'exclusion':
      return exclude(expression.parts, position)
    case 'self':
      return position.object === position.subject ? YES : NO
    default:
      return NO
  }
}

function arrow({ tupleset, targets }: Expression, position: Position): Verdict {
  const verdicts = edgesOf(tupleset?.name, position).map(({ tuple, verdict }) => {
    const target = targets[position.model.type(tuple.subject_type)?.index ?? -1]
    const reached = position.values.get(`${tuple.subject_type}:${tuple.subject_id}#${target?.name}`)
    return Math.min(verdict, reached ?? NO)
  })
  return highest(verdicts)
}

function exclude([from, without]: readonly Expression[], position: Position): Verdict {
  if (from === undefined || without === undefined) return NO
  const base = evaluate(from, position)
  const excluded = evaluate(without, { ...position, values: position.excluded, excluded: position.values })
  if (excluded === YES) return NO
  return excluded === UNKNOWN ? Math.min(base, UNKNOWN) : base
}

const highest = (verdicts: readonly Verdict[]): Verdict => Math.max(NO, ...verdicts)

function isSame(a: Valuation, b: Valuation): boolean {
  return [...new Set([...a.keys(), ...b.keys()])].every((key) => a.get(key) === b.get(key))
}
