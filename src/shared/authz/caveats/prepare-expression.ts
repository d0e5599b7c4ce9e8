import { childrenOf, type Expression } from './expression.ts'
import { RANGE, TICK } from './functions.ts'

/**
 * Adds the cost of every loop to the expression: its range once, its nodes in each round. Calls `matches(a, b)` as
 * `a.matches(b)`, which is the only form that the library has. Changes the expression in place.
 */
export function prepareExpression(expression: Expression): void {
  for (const child of childrenOf(expression)) prepareExpression(child)
  const { exprKind } = expression
  if (exprKind.case === 'callExpr' && exprKind.value.function === 'matches' && exprKind.value.args.length === 2) {
    const [target, ...args] = exprKind.value.args
    if (target !== undefined) Object.assign(exprKind.value, { target, args })
  }
  if (exprKind.case !== 'comprehensionExpr') return
  const { iterRange, loopCondition, loopStep } = exprKind.value
  if (iterRange === undefined || loopCondition === undefined || loopStep === undefined) return
  const nodes = sizeOf(loopStep) + sizeOf(loopCondition)
  exprKind.value.iterRange = call(RANGE, [iterRange])
  exprKind.value.loopCondition = call(TICK, [loopCondition, int(nodes)])
}

/** Nodes that are evaluated once with the expression; loops in it pay for themselves. */
function sizeOf(expression: Expression): number {
  const children =
    expression.exprKind.case === 'comprehensionExpr' ? childrenOf(expression).slice(0, 1) : childrenOf(expression)
  return children.reduce((size, child) => size + sizeOf(child), 1)
}

const node = (exprKind: Expression['exprKind']): Expression => ({ $typeName: 'cel.expr.Expr', id: 0n, exprKind })

function call(name: string, args: Expression[]): Expression {
  return node({ case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } })
}

function int(value: number): Expression {
  const constantKind = { case: 'int64Value', value: BigInt(value) } as const
  return node({ case: 'constExpr', value: { $typeName: 'cel.expr.Constant', constantKind } })
}
