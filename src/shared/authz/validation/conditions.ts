import { compileCaveat } from '../caveats/caveat-program.ts'
import { conditionVerdict } from '../caveats/condition-verdict.ts'
import { ConversionError, convertValue } from '../caveats/convert-value.ts'
import { valueType } from '../caveats/value-type.ts'
import type { ConditionVerdict } from '../engine/question.ts'
import type { MissingFields } from '../engine/explain/explain-tree.ts'
import type { CaveatModel } from '../model.ts'

type Context = Readonly<Record<string, unknown>>

/** A value does not have the type of its caveat parameter. */
export class ContextError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ContextError'
  }
}

/**
 * Creates the function that decides the conditions of tuples at an instant, with the values of a question.
 * @throws ContextError, when the function is called, for a value that does not fit a caveat.
 */
export function conditionsUnder(nowMs: number, context: Context): ConditionVerdict {
  const holds = conditionVerdict({ nowMs, context })
  const fitting = new Set<CaveatModel>()
  return (condition) => {
    const { caveat } = condition
    if (caveat !== undefined && !fitting.has(caveat)) {
      requireFitting(caveat, context)
      fitting.add(caveat)
    }
    return holds(condition)
  }
}

/** Names the parameters whose values are missing to evaluate a caveat. */
export function missingUnder(context: Context): MissingFields {
  return ({ caveat, context: own }) =>
    caveat === undefined ? [] : compileCaveat(caveat).evaluate({ ...context, ...own }).missing
}

/**
 * @throws ContextError for a value that does not have the type of its parameter. Ignores names that are not parameters.
 */
export function requireFitting({ parameters }: CaveatModel, context: Context): void {
  for (const { name, type: text } of parameters) {
    const type = valueType(text)
    if (type === undefined || !Object.hasOwn(context, name)) continue
    try {
      convertValue(type, context[name])
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error
      throw new ContextError(`${error.message} for "${name}", found ${shown(context[name])}`)
    }
  }
}

/** A value as JSON, or a placeholder if it is nested too deeply to be written. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return 'a value that is nested more deeply'
    throw error
  }
}

/** @throws ContextError as `requireFitting`, and for a name that is not a parameter of the caveat. */
export function requireKnown(caveat: CaveatModel, context: Context): void {
  const names = caveat.parameters.map(({ name }) => name)
  const unknown = Object.keys(context).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new ContextError(`expected values for ${names.join(', ')} of "${caveat.name}", found one for "${unknown}"`)
  }
  requireFitting(caveat, context)
}
