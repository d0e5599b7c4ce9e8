import type { ExplainedCheck, ExplainedCondition, Explanation, Outcome, ProposedTuple } from '../explanation.ts'

/** Maximum of lines of one explanation: people read three or four. */
const REASONS_MAX = 6

/**
 * A summary of an explanation, one reason in a line: the relationships that decided, the results of their caveats, and,
 * where a grant was expected, what would grant it.
 */
export function reasonsOf({ tree, remedies }: ExplainedCheck, expected: Outcome): readonly string[] {
  const tuples = new Set(decisiveTuples(tree, false).map(lineOf))
  const all = [...tuples, ...(expected === 'granted' ? remedies.slice(0, 1).map(remedyLine) : [])]
  return all.length <= REASONS_MAX
    ? all
    : [...all.slice(0, REASONS_MAX - 1), `and ${all.length - REASONS_MAX + 1} more`]
}

/** A tuple of the tree. `isExcluded`: it is in the excluded part of an exclusion. */
interface DecisiveTuple {
  readonly tuple: Explanation
  readonly isExcluded: boolean
}

/** Tuples that decide the result, and tuples that would decide it without a condition. */
function decisiveTuples(node: Explanation, isExcluded: boolean): DecisiveTuple[] {
  const isDecisive = node.kind === 'tuple' && (node.outcome !== 'denied' || node.condition !== undefined)
  const below = node.parts.flatMap((part, index) =>
    decisiveTuples(part, isExcluded !== (node.kind === 'exclusion' && index > 0)),
  )
  return [...(isDecisive ? [{ tuple: node, isExcluded }] : []), ...below]
}

function lineOf({ tuple: { object, name, subject, outcome, condition }, isExcluded }: DecisiveTuple): string {
  const how = isExcluded ? 'taken away by' : 'by'
  const tuple = `${object}#${name}@${subject ?? ''}`
  const end = condition === undefined ? '' : conditionText(condition)
  return `${outcome === 'denied' ? 'not ' : ''}${how} ${tuple}${end}`
}

function conditionText({ caveat, outcome, missing, isExpired }: ExplainedCondition): string {
  if (isExpired) return ', which has expired'
  if (caveat === '') return ''
  if (outcome !== 'conditional') return `, whose caveat ${caveat} ${outcome === 'granted' ? 'holds' : 'does not hold'}`
  return `, whose caveat ${caveat} ${missing.length === 0 ? 'is undecided' : `needs ${missing.join(', ')}`}`
}

function remedyLine(tuples: readonly ProposedTuple[]): string {
  const all = tuples.map(({ subject, relation, resource }) => `${resource}#${relation}@${subject}`)
  return `it would be granted by ${all.join(' and ')}`
}
