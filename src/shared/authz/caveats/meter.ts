import { isCelList, isCelMap, type CelEnv, type CelValue } from '@bufbuild/cel'
import { patternSize } from './pattern-size.ts'

/** The error of an evaluation that exceeds its cost limit. */
export class CostError extends Error {
  constructor() {
    super('the expression costs too much over these values')
    this.name = 'CostError'
  }
}

/** Counts what an evaluation costs: about one unit for a node of the expression that is evaluated in a loop. */
export interface Meter {
  reset(): void
  /** @throws CostError once the evaluation has reached its limit, and on every later call. */
  charge(units: number): void
}

export function createMeter(units: number): Meter {
  let left = units
  return {
    reset() {
      left = units
    },
    charge(spent) {
      left -= spent
      if (left < 0) throw new CostError()
    },
  }
}

/** Characters that cost one unit to look at. */
const CHARACTERS_A_UNIT = 16

/** Functions that look into lists and maps to any depth. */
const DEEP: ReadonlySet<string> = new Set(['_==_', '_!=_', '@in'])

/** The environment with every function charged for the size of what it is given. */
export function metered(env: CelEnv, meter: Meter): CelEnv {
  const find = (name: string): unknown => {
    const group = env.funcs.find(name)
    if (group === undefined) return undefined
    const weigh = DEEP.has(name) ? deepWeight : name === 'matches' ? matchWeight : shallowWeight
    const call: typeof group.call = (id, target, args) => {
      weigh(meter, target === undefined ? args : [target, ...args])
      return group.call(id, target, args)
    }
    return Object.create(group, { call: { value: call } })
  }
  const funcs: unknown = Object.create(env.funcs, { find: { value: find } })
  return Object.create(env, { funcs: { value: funcs } })
}

function shallowWeight(meter: Meter, values: readonly CelValue[]): void {
  for (const value of values) meter.charge(1 + lengthOf(value) / CHARACTERS_A_UNIT)
}

/** To make a pattern ready, and for each of its characters. */
const PATTERN_UNITS = 200
const PATTERN_CHARACTER_UNITS = 10

/** Matching takes as long as the product of pattern and text, the pattern with its repetitions written out. */
function matchWeight(meter: Meter, [text = '', pattern = '']: readonly CelValue[]): void {
  const size = typeof pattern === 'string' ? patternSize(pattern) : 0
  const prepared = PATTERN_UNITS + PATTERN_CHARACTER_UNITS * size
  meter.charge(prepared + lengthOf(text) * (1 + size / CHARACTERS_A_UNIT))
}

function deepWeight(meter: Meter, values: Iterable<CelValue>): void {
  for (const value of values) {
    meter.charge(1 + lengthOf(value) / CHARACTERS_A_UNIT)
    if (isCelList(value)) deepWeight(meter, value)
    else if (isCelMap(value)) deepWeight(meter, value.values())
  }
}

function lengthOf(value: CelValue): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
}
