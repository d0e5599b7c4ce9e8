import { SchemaError, type Position } from '../language/schema-error.ts'
import type { CaveatModel } from '../model.ts'
import { checkExpression, ExpressionError } from './check-expression.ts'
import { namesIn, type Expression } from './expression.ts'
import { parseExpressionText } from './parse-text.ts'
import { staticType, typeText } from './static-type.ts'
import { valueType, type ValueType } from './value-type.ts'

/** Positions of the parts of a caveat in the schema. */
export interface CaveatPlaces {
  readonly expression: Position
  readonly parameter: (name: string) => Position
}

const START: Position = { line: 1, column: 1 }

/** Positions of a caveat that is in no schema. */
export const NOWHERE: CaveatPlaces = { expression: START, parameter: () => START }

export interface CheckedCaveat {
  /** Of the parameters, in order. */
  readonly types: ReadonlyMap<string, ValueType>
  readonly expression: Expression
}

/** @throws SchemaError where the expression is not one of CEL over the parameters, results in no bool or leaves one out. */
export function checkCaveat(caveat: CaveatModel, places: CaveatPlaces): CheckedCaveat {
  const types = new Map(caveat.parameters.map(({ name, type }) => [name, typeNamed(type, places.parameter(name))]))
  const expression = placed(caveat, places, () => checkedExpression(caveat.expression, types))
  const used = namesIn(expression)
  const unused = [...types.keys()].find((name) => !used.has(name))
  if (unused === undefined) return { types, expression }
  throw new SchemaError(places.parameter(unused), `expected the expression to use "${unused}"`)
}

function typeNamed(text: string, at: Position): ValueType {
  const type = valueType(text)
  if (type !== undefined) return type
  throw new SchemaError(at, `expected the type of a field, such as "string", found "${text}"`)
}

function checkedExpression(text: string, types: ReadonlyMap<string, ValueType>): Expression {
  const parsed = parseExpressionText(text)
  const result = checkExpression(parsed, new Map([...types].map(([name, type]) => [name, staticType(type)])))
  if (result.kind === 'bool' && parsed.expr !== undefined) return parsed.expr
  throw new ExpressionError(0, `expected an expression that results in bool, found ${typeText(result)}`)
}

/** Adds the position in the schema to a fault of the expression. */
function placed<T>(caveat: CaveatModel, { expression: start }: CaveatPlaces, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof ExpressionError)
      throw new SchemaError(within(caveat.expression, error.offset, start), error.message)
    if (error instanceof RangeError) throw new SchemaError(start, 'expected an expression that is nested less deeply')
    throw error
  }
}

/** The place of what comes at or after an offset in a text that begins at `start`. */
function within(text: string, offset: number, start: Position): Position {
  const blanks = /^\s*/.exec(text.slice(offset))?.[0].length ?? 0
  const lines = text.slice(0, offset + blanks).split(/\r\n|\r|\n/)
  const column = (lines.at(-1)?.length ?? 0) + 1
  return lines.length === 1
    ? { line: start.line, column: start.column + column - 1 }
    : { line: start.line + lines.length - 1, column }
}
