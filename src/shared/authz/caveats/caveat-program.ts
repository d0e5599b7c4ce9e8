import { celEnv, celError, plan, type CelInput } from '@bufbuild/cel'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../engine/verdict.ts'
import type { CaveatModel } from '../model.ts'
import { checkCaveat, NOWHERE, type CaveatPlaces } from './check-caveat.ts'
import { ConversionError, convertValue } from './convert-value.ts'
import type { Expression } from './expression.ts'
import { ownFunctions } from './functions.ts'
import { IP_REGISTRY } from './ip-message.ts'
import { prepareExpression } from './prepare-expression.ts'
import { createMeter, metered, type Meter } from './meter.ts'
import { textFunctions } from './text-functions.ts'
import { timeFunctions } from './time-functions.ts'

export interface CaveatResult {
  /** YES, VIOLATED, or UNKNOWN where a value is missing or the expression fails over those that are there. */
  readonly verdict: Verdict
  /** The parameters whose missing values decide the answer, in order; empty with UNKNOWN for an expression that fails. */
  readonly missing: readonly string[]
}

export interface CaveatProgram {
  /** `values`: plain JSON by parameter name; names that are no parameters are ignored. Never throws, always terminates. */
  evaluate(values: Readonly<Record<string, unknown>>): CaveatResult
}

/** What an evaluation may cost, in the units of the meter: a fifth of a second at most. */
const COST_MAX = 500_000

const HOLDS: CaveatResult = { verdict: YES, missing: [] }
const FAILS: CaveatResult = { verdict: VIOLATED, missing: [] }
const UNDECIDED: CaveatResult = { verdict: UNKNOWN, missing: [] }

const programs = new WeakMap<CaveatModel, CaveatProgram>()

/**
 * Compiles a caveat, once per caveat.
 * @throws SchemaError where the expression is not one of CEL over the caveat's parameters, results in no bool or leaves a
 * parameter out; without `places` it counts from the start of the expression.
 */
export function compileCaveat(caveat: CaveatModel, places: CaveatPlaces = NOWHERE): CaveatProgram {
  const known = programs.get(caveat)
  if (known !== undefined) return known
  const program = createProgram(caveat, places)
  programs.set(caveat, program)
  return program
}

function createProgram(caveat: CaveatModel, places: CaveatPlaces): CaveatProgram {
  const { types, expression } = checkCaveat(caveat, places)
  const meter = createMeter(COST_MAX)
  let evaluate: Evaluation | undefined

  /** Undefined when a value does not fit its parameter. */
  function convert(values: Readonly<Record<string, unknown>>): Map<string, CelInput> | undefined {
    const given = [...types].filter(([name]) => Object.hasOwn(values, name) && values[name] !== undefined)
    try {
      return new Map(given.map(([name, type]) => [name, convertValue(type, values[name])]))
    } catch (error) {
      if (error instanceof ConversionError) return undefined
      throw error
    }
  }

  return {
    evaluate(values) {
      const given = convert(values)
      if (given === undefined) return UNDECIDED
      meter.reset()
      const missing = new Set<string>()
      evaluate ??= planned(expression, meter)
      const result = evaluate(variables(types.keys(), given, missing))
      if (typeof result === 'boolean') return result ? HOLDS : FAILS
      return missing.size === 0
        ? UNDECIDED
        : { verdict: UNKNOWN, missing: [...types.keys()].filter((name) => missing.has(name)) }
    },
  }
}

/** The values by name. A missing one is an error, which `&&` and `||` ignore where the other side decides. */
function variables(
  names: Iterable<string>,
  given: ReadonlyMap<string, CelInput>,
  missing: Set<string>,
): Record<string, CelInput> {
  const bindings: Record<string, CelInput> = Object.create(null)
  for (const name of names) {
    Object.defineProperty(bindings, name, {
      get() {
        if (given.has(name)) return given.get(name)
        missing.add(name)
        return celError(`${name} is missing`)
      },
    })
  }
  return bindings
}

type Evaluation = (bindings: Record<string, CelInput>) => unknown

/** Slow, so that schemas load without it and caveats are compiled on first use. */
function planned(expression: Expression, meter: Meter): Evaluation {
  const env = celEnv({
    registry: IP_REGISTRY,
    funcs: [...textFunctions(), ...timeFunctions(), ...ownFunctions(meter)],
  })
  prepareExpression(expression)
  return plan(metered(env, meter), expression)
}
