import type { Expression, Model, RelationModel } from '../../model.ts'

/** What of a model decides how the impact of edits is found. */
export interface ModelTraits {
  /** Whether permissions are made of unions and arrows alone. */
  readonly isPlain: boolean
  /** Relations that arrows follow: their tuples pass on what others hold. */
  readonly followed: ReadonlySet<RelationModel>
}

export function modelTraits({ types }: Model): ModelTraits {
  const expressions = types.flatMap(({ permissions }) => permissions.flatMap(({ expression }) => nodesOf(expression)))
  const followed = expressions.flatMap(({ tupleset }) => (tupleset === undefined ? [] : [tupleset]))
  const isPlain = expressions.every(({ op }) => op !== 'intersection' && op !== 'exclusion' && op !== 'all')
  return { isPlain, followed: new Set(followed) }
}

function nodesOf(expression: Expression): Expression[] {
  return [expression, ...expression.parts.flatMap(nodesOf)]
}
