import type { CaveatDraft } from './draft.ts'
import { FIELD_TYPES, drawValue } from './field-types.ts'
import type { Random } from './random.ts'
import type { Context } from './world.ts'

const FIELDS = ['alpha', 'beta', 'gamma', 'delta'] as const
const COMMON = ['int', 'string', 'bool', 'list<string>'] as const

type Field = CaveatDraft['parameters'][number]

/**
 * Caveats that read each of their fields, as SpiceDB demands. They share the names of fields, and mostly their types, so
 * that one value serves all.
 */
export function generateCaveats(random: Random, names: readonly string[]): CaveatDraft[] {
  const types = new Map(FIELDS.map((field) => [field, drawType(random)]))
  return names.map((name) => {
    const fields = random.shuffled(FIELDS).slice(0, 1 + random.below(3))
    const parameters = fields.map((field) => {
      return { name: field, type: random.chance(0.03) ? drawType(random) : (types.get(field) ?? 'any') }
    })
    return generateCaveat(random, name, parameters)
  })
}

const drawType = (random: Random): string =>
  random.chance(0.4) ? random.pick(COMMON) : random.pick(Object.keys(FIELD_TYPES))

function generateCaveat(random: Random, name: string, parameters: readonly Field[]): CaveatDraft {
  const conditions = parameters.flatMap((field) =>
    Array.from({ length: 1 + random.below(2) }, () => condition(random, field, parameters)),
  )
  return { name, parameters, expression: joined(random, random.shuffled(conditions)) }
}

function condition(random: Random, { name, type }: Field, fields: readonly Field[]): string {
  const others = fields.filter((field) => field.type === type && field.name !== name)
  const other = others.length > 0 ? random.pick(others).name : name
  const drawn = random.pick(FIELD_TYPES[type]?.conditions ?? [])
  const text = drawn.replace(/\b[xy]\b/g, (variable) => (variable === 'x' ? name : other))
  return random.chance(0.15) ? `!(${text})` : text
}

function joined(random: Random, conditions: readonly string[]): string {
  const [first = 'true', ...rest] = conditions
  return rest.reduce((text, each) => {
    if (random.chance(0.12)) return `(${text} ? ${each} : ${random.pick(['true', 'false'])})`
    return `(${text}) ${random.pick(['&&', '&&', '||', '||'])} (${each})`
  }, first)
}

interface Shares {
  /** Of the fields that get a value. */
  readonly given: number
  /** Of the values that are of the wrong type or form. */
  readonly wrong: number
}

/** Values for some fields of the caveats. */
export function drawContext(random: Random, caveats: readonly CaveatDraft[], { given, wrong }: Shares): Context {
  const fields = random.some(random.shuffled(caveats.flatMap(({ parameters }) => parameters)), given)
  return Object.fromEntries(fields.map(({ name, type }) => [name, drawValue(random, type, wrong)]))
}
