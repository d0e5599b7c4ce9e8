import { COUNTS } from './counts.ts'
import type { GeneratorLoad } from './generator-load.ts'
import type { Summary } from './statistics.ts'

/** One condition of `--fail-on`. The run fails if it is true at the end. */
export interface Condition {
  /** The condition as typed, for messages. */
  readonly text: string
  readonly quantity: Quantity
  readonly operator: '>' | '<' | '>=' | '<='
  /** A count, or milliseconds for percentiles. */
  readonly threshold: number
}

type Quantity =
  | { readonly kind: 'count'; readonly name: string }
  | { readonly kind: 'percentile'; readonly percent: number; readonly operation: string }
  | { readonly kind: 'generator'; readonly name: GeneratorQuantity }

/** The load of the simulator itself, by the names of conditions. */
const GENERATOR = {
  generator_cores: 'cpu_cores',
  generator_delay: 'loop_delay_p99_ms',
  generator_utilization: 'loop_utilization_max',
} as const satisfies Readonly<Record<string, keyof GeneratorLoad>>

type GeneratorQuantity = keyof typeof GENERATOR

const CONDITION =
  /^(?<quantity>[a-z_]+|p(?<percent>\d{1,2}(?:\.\d{1,3})?)\((?<operation>[a-z_]+)\))\s*(?<operator>[<>]=?)\s*(?<threshold>\d+(?:\.\d+)?)(?<unit>us|ms|s)?$/

const UNIT_MS = { us: 0.001, ms: 1, s: 1000 } as const

/**
 * Reads `p99(heartbeat)>50ms,errors>0`: conditions joined by commas.
 *
 * @throws Error with a sentence that names the condition and the accepted values.
 */
export function parseFailOn(text: string, operations: readonly string[]): readonly Condition[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => parseCondition(part, operations))
}

function parseCondition(text: string, operations: readonly string[]): Condition {
  const groups = CONDITION.exec(text)?.groups
  if (groups === undefined) {
    throw new Error(`--fail-on: "${text}" is not a condition such as errors>0 or p99(heartbeat)>50ms`)
  }
  const quantity = quantityOf(text, groups, operations)
  const unit = groups['unit'] as keyof typeof UNIT_MS | undefined
  if (!isTime(quantity) && unit !== undefined) {
    throw new Error(`--fail-on: "${text}" compares a count, which has no unit`)
  }
  return {
    text,
    quantity,
    operator: groups['operator'] as Condition['operator'],
    threshold: Number(groups['threshold']) * (unit === undefined ? 1 : UNIT_MS[unit]),
  }
}

function quantityOf(text: string, groups: Record<string, string | undefined>, operations: readonly string[]): Quantity {
  const { percent, operation } = groups
  if (percent !== undefined && operation !== undefined) {
    if (!operations.includes(operation)) {
      throw new Error(`--fail-on: "${text}" names no operation of the simulator; it has ${operations.join(', ')}`)
    }
    return { kind: 'percentile', percent: Number(percent), operation }
  }
  const name = groups['quantity'] ?? ''
  if (isGenerator(name)) return { kind: 'generator', name }
  if (!COUNTS.some((count) => count === name)) {
    throw new Error(
      `--fail-on: "${text}" names no count of the simulator; it has ${[...COUNTS, ...Object.keys(GENERATOR)].join(', ')}`,
    )
  }
  return { kind: 'count', name }
}

/** The conditions that are true, each with the measured value. */
export function failed(conditions: readonly Condition[], summary: Summary): readonly string[] {
  return conditions.flatMap((condition) => {
    const value = measured(condition.quantity, summary)
    return holds(value, condition) ? [`${condition.text} (measured ${round(value)})`] : []
  })
}

function measured(quantity: Quantity, summary: Summary): number {
  if (quantity.kind === 'percentile') return summary.percentileMs(quantity.operation, quantity.percent)
  if (quantity.kind === 'generator') return summary.generator?.[GENERATOR[quantity.name]] ?? 0
  return summary.counts[quantity.name] ?? 0
}

function isGenerator(name: string): name is GeneratorQuantity {
  return Object.hasOwn(GENERATOR, name)
}

function isTime(quantity: Quantity): boolean {
  return quantity.kind === 'percentile' || (quantity.kind === 'generator' && quantity.name === 'generator_delay')
}

function holds(value: number, { operator, threshold }: Condition): boolean {
  if (operator === '>') return value > threshold
  if (operator === '>=') return value >= threshold
  if (operator === '<') return value < threshold
  return value <= threshold
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
