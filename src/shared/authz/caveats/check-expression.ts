import type {
  Call,
  Comprehension,
  Constant,
  Expression,
  ListLiteral,
  MapLiteral,
  Parsed,
  Select,
} from './expression.ts'
import { chooseOverload, joined } from './choose-overload.ts'
import { mixedOverloadsOf, overloadsOf } from './overloads.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  typeOf,
  typeText,
  UINT,
  type StaticType,
} from './static-type.ts'
import { createUnifier } from './unify.ts'

/** A fault of an expression. */
export class ExpressionError extends Error {
  /** Offset of the faulty part in the text of the expression. */
  readonly offset: number

  constructor(offset: number, reason: string) {
    super(reason)
    this.name = 'ExpressionError'
    this.offset = offset
  }
}

type Scope = ReadonlyMap<string, StaticType>

/** Types are values too: `type(x) == int`. */
export const TYPE_NAMES: Scope = new Map(
  Object.entries({
    bool: BOOL,
    bytes: BYTES,
    double: DOUBLE,
    int: INT,
    list: listOf(DYN),
    map: mapOf(DYN, DYN),
    null_type: NULL,
    string: STRING,
    type: typeOf(DYN),
    uint: UINT,
    'google.protobuf.Duration': DURATION,
    'google.protobuf.Timestamp': TIMESTAMP,
  }).map(([name, type]) => [name, typeOf(type)]),
)

const CONSTANTS: { readonly [kind: string]: StaticType } = {
  boolValue: BOOL,
  bytesValue: BYTES,
  doubleValue: DOUBLE,
  int64Value: INT,
  nullValue: NULL,
  stringValue: STRING,
  uint64Value: UINT,
}

/** Macros of SpiceDB; the parser knows more. */
const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n
const UINT_MAX = 2n ** 64n - 1n

/** Maximum nesting of an expression. Chains of `+` nest, those of `&&` and `||` hardly do. */
const DEPTH_MAX = 1_000

/**
 * Infers the type of an expression over the given variables.
 * @throws ExpressionError where a name is unknown or a value of the wrong type.
 */
export function checkExpression({ expr, sourceInfo }: Parsed, variables: Scope): StaticType {
  const unifier = createUnifier()
  let depth = 0
  /** Whether a macro was met. */
  let isBehindMacro = false

  function fail(node: Expression, reason: string): never {
    throw new ExpressionError(sourceInfo?.positions[String(node.id)] ?? 0, reason)
  }

  function typeOfNode(node: Expression | undefined, scope: Scope): StaticType {
    if (node === undefined) return DYN
    if (depth === DEPTH_MAX) fail(node, `expected at most ${DEPTH_MAX} parts within each other`)
    depth++
    const type = typeOfKind(node, scope)
    depth--
    return type
  }

  function typeOfKind(node: Expression, scope: Scope): StaticType {
    const { exprKind } = node
    switch (exprKind.case) {
      case 'constExpr':
        return constant(node, exprKind.value)
      case 'identExpr':
        return variable(node, exprKind.value.name, scope)
      case 'selectExpr':
        return select(node, exprKind.value, scope)
      case 'callExpr':
        return call(node, exprKind.value, scope)
      case 'listExpr':
        return listLiteral(exprKind.value, scope)
      case 'structExpr':
        return mapLiteral(node, exprKind.value, scope)
      case 'comprehensionExpr':
        return comprehension(node, exprKind.value, scope)
      default:
        return fail(node, 'expected an expression')
    }
  }

  function constant(node: Expression, { constantKind }: Constant): StaticType {
    const { case: kind, value } = constantKind
    const inRange =
      typeof value !== 'bigint' || (kind === 'uint64Value' ? value <= UINT_MAX : value >= INT_MIN && value <= INT_MAX)
    if (!inRange) fail(node, `expected a number of 64 bits, found ${value}`)
    return CONSTANTS[kind ?? ''] ?? fail(node, 'expected a constant')
  }

  function variable(node: Expression, name: string, scope: Scope): StaticType {
    const bare = name.replace(/^\./, '')
    return scope.get(bare) ?? TYPE_NAMES.get(bare) ?? fail(node, `expected a field of the caveat, found "${name}"`)
  }

  function select(node: Expression, { operand, field, testOnly }: Select, scope: Scope): StaticType {
    const named = TYPE_NAMES.get(pathOf(node) ?? '')
    if (named !== undefined) return named
    const type = unifier.resolve(typeOfNode(operand, scope))
    if (type.kind === 'param') unifier.assignable([DYN], [type])
    else if (type.kind !== 'map' && type.kind !== 'dyn') {
      fail(node, `expected a map before ".${field}", found ${typeText(type)}`)
    }
    if (testOnly) return BOOL
    return type.kind === 'map' ? (type.of[1] ?? DYN) : DYN
  }

  function call(node: Expression, { function: name, target, args }: Call, scope: Scope): StaticType {
    const overloads = overloadsOf(name, target === undefined ? 'plain' : 'member')
    if (overloads === undefined || overloads.length === 0) fail(node, unknownFunction(name))
    const given = (target === undefined ? args : [target, ...args]).map((each) => typeOfNode(each, scope))
    const result = chooseOverload(unifier, isBehindMacro ? [...overloads, ...mixedOverloadsOf(name)] : overloads, given)
    return (
      result ??
      fail(
        node,
        wrongOperands(
          name,
          given.map((type) => unifier.resolve(type)),
        ),
      )
    )
  }

  function listLiteral({ elements }: ListLiteral, scope: Scope): StaticType {
    return listOf(
      joined(
        unifier,
        elements.map((element) => typeOfNode(element, scope)),
      ),
    )
  }

  function mapLiteral(node: Expression, { messageName, entries }: MapLiteral, scope: Scope): StaticType {
    if (messageName !== '') fail(node, `expected a map: messages such as "${messageName}" are not supported`)
    const keys = entries.map(({ keyKind }) => typeOfNode(keyKind.case === 'mapKey' ? keyKind.value : undefined, scope))
    return mapOf(
      joined(unifier, keys),
      joined(
        unifier,
        entries.map(({ value }) => typeOfNode(value, scope)),
      ),
    )
  }

  function comprehension(node: Expression, macro: Comprehension, scope: Scope): StaticType {
    const written = sourceInfo?.macroCalls[String(node.id)]?.exprKind
    if (written?.case === 'callExpr' && !MACROS.has(written.value.function)) {
      fail(node, unknownFunction(written.value.function))
    }
    const range = unifier.resolve(typeOfNode(macro.iterRange, scope))
    const outer = new Map(scope).set(macro.accuVar, typeOfNode(macro.accuInit, scope))
    const inner = new Map(outer).set(macro.iterVar, elementOf(node, range))
    isBehindMacro = true
    typeOfNode(macro.loopCondition, inner)
    const step = typeOfNode(macro.loopStep, inner)
    const accumulated = outer.get(macro.accuVar) ?? DYN
    if (!unifier.assignable([step], [accumulated])) fail(node, `expected a condition, found ${typeText(step)}`)
    return unifier.resolve(typeOfNode(macro.result, outer))
  }

  /** The type that a comprehension iterates: the elements of a list, the keys of a map. */
  function elementOf(node: Expression, range: StaticType): StaticType {
    if (range.kind === 'param') unifier.assignable([range], [DYN])
    if (range.kind === 'param' || range.kind === 'dyn') return DYN
    if (range.kind === 'list' || range.kind === 'map') return range.of[0] ?? DYN
    return fail(node, `expected a list or a map before the macro, found ${typeText(range)}`)
  }

  return unifier.resolve(typeOfNode(expr, variables))
}

/** `a.b.c` that consists of names only. */
function pathOf({ exprKind }: Expression): string | undefined {
  if (exprKind.case === 'identExpr') return exprKind.value.name.replace(/^\./, '')
  if (exprKind.case !== 'selectExpr' || exprKind.value.testOnly || exprKind.value.operand === undefined)
    return undefined
  const before = pathOf(exprKind.value.operand)
  return before === undefined ? undefined : `${before}.${exprKind.value.field}`
}

/** An operator's name shows the places of its operands: `_+_`, `!_`, `_[_]`. */
const isOperator = (name: string): boolean => name.startsWith('_') || name.endsWith('_') || name.startsWith('@')

const symbolOf = (name: string): string => name.replaceAll(/[_@]/g, '')

function unknownFunction(name: string): string {
  return `expected a function of caveats, found "${isOperator(name) ? symbolOf(name) : name}"`
}

function wrongOperands(name: string, given: readonly StaticType[]): string {
  const types = given.map(typeText).join(', ')
  return isOperator(name)
    ? `expected operands that "${symbolOf(name)}" takes, found ${types}`
    : `expected arguments that ${name}() takes, found (${types})`
}
