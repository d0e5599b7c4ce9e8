import type { parse } from '@bufbuild/cel'

/** A parsed expression of CEL, with the numbers of its parts and where each starts in the text. */
export type Parsed = ReturnType<typeof parse>

/** One node of it. */
export type Expression = NonNullable<Parsed['expr']>

type Kind = Expression['exprKind']
export type Call = Extract<Kind, { case: 'callExpr' }>['value']
export type Select = Extract<Kind, { case: 'selectExpr' }>['value']
export type ListLiteral = Extract<Kind, { case: 'listExpr' }>['value']
export type MapLiteral = Extract<Kind, { case: 'structExpr' }>['value']
export type Constant = Extract<Kind, { case: 'constExpr' }>['value']
/** A macro such as `all` or `map`, spelt out. */
export type Comprehension = Extract<Kind, { case: 'comprehensionExpr' }>['value']

/** What is directly inside a node; a comprehension's range first, its loop after it. */
export function childrenOf({ exprKind }: Expression): readonly Expression[] {
  switch (exprKind.case) {
    case 'callExpr':
      return exprKind.value.target === undefined ? exprKind.value.args : [exprKind.value.target, ...exprKind.value.args]
    case 'selectExpr':
      return present([exprKind.value.operand])
    case 'listExpr':
      return exprKind.value.elements
    case 'structExpr':
      return present(exprKind.value.entries.flatMap(({ keyKind, value }) => [keyOf(keyKind), value]))
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value
      return present([iterRange, accuInit, loopCondition, loopStep, result])
    }
    default:
      return []
  }
}

function keyOf(key: MapLiteral['entries'][number]['keyKind']): Expression | undefined {
  return key.case === 'mapKey' ? key.value : undefined
}

function present(nodes: readonly (Expression | undefined)[]): readonly Expression[] {
  return nodes.filter((node) => node !== undefined)
}

/** The names that an expression reads. Keys of maps do not count, as in SpiceDB's test for parameters that are not used. */
export function namesIn(expression: Expression): ReadonlySet<string> {
  const names = new Set<string>()
  const collect = (node: Expression): void => {
    const { exprKind } = node
    if (exprKind.case === 'identExpr') names.add(exprKind.value.name)
    const inner =
      exprKind.case === 'structExpr' ? present(exprKind.value.entries.map(({ value }) => value)) : childrenOf(node)
    for (const child of inner) collect(child)
  }
  collect(expression)
  return names
}
