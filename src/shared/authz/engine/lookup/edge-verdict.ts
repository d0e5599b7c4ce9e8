import type { ConditionVerdict } from '../question.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { NO, YES, type Verdict } from '../verdict.ts'

/** How far the edge's tuples hold: as far as the best of them. */
export function edgeVerdict({ conditions }: TupleIndex, edge: number, holds: ConditionVerdict): Verdict {
  const alternatives = conditions.of(edge)
  if (alternatives === undefined || alternatives.unconditional) return YES
  let verdict: Verdict = NO
  for (const condition of alternatives.conditions) verdict = Math.max(verdict, holds(condition))
  return verdict
}
