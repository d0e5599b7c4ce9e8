import type { DefinitionDraft, RelationDraft, RuleDraft, SchemaDraft } from './draft.ts'
import type { Features } from './features.ts'
import { drawContext } from './generate-caveat.ts'
import { generateQueries } from './generate-queries.ts'
import { generateSchema } from './generate-schema.ts'
import type { Population } from './population.ts'
import type { Random } from './random.ts'
import type { FuzzTuple, World } from './world.ts'

/** Of the worlds, those whose tuples may form rings. They are small: SpiceDB walks a ring again and again until it gives up. */
const RING_SHARE = 0.06
const RING_TUPLES = 5

const STYLES: readonly ((type: string, place: number) => string)[] = [
  (_, place) => `${place}`,
  (type, place) => `${type.slice(0, 2)}-${place}`,
  (_, place) => `0190b5a${place}-7c1f-7000-8000-0000000000${place}0`,
  (_, place) => `A=b/+_|${place}`,
]

/** The world that a seed stands for. */
export function generateWorld(random: Random, features: Features): World {
  const schema = generateSchema(random, features)
  const population = populate(random, schema)
  const tuples = generateTuples(random, schema, population)
  return { schema, tuples, queries: generateQueries({ random, schema, features, population, tuples }) }
}

function populate(random: Random, { definitions }: SchemaDraft): Population {
  const style = random.pick(STYLES)
  const byType = new Map(
    definitions.map(({ name, relations }) => {
      const count = relations.length === 0 ? 3 : 2 + random.below(2)
      return [name, Array.from({ length: count }, (_, place) => `${name}:${style(name, place + 1)}`)] as const
    }),
  )
  const all = random.shuffled([...byType.values()].flat())
  return { byType, order: new Map(all.map((object, at) => [object, at])) }
}

interface Spot {
  readonly definition: DefinitionDraft
  readonly relation: RelationDraft
  readonly rule: RuleDraft
}

function generateTuples(random: Random, schema: SchemaDraft, population: Population): FuzzTuple[] {
  const spots = schema.definitions.flatMap((definition) =>
    definition.relations.flatMap((relation) => relation.rules.map((rule): Spot => ({ definition, relation, rule }))),
  )
  if (spots.length === 0) return []
  const mayCycle = random.chance(RING_SHARE)
  const leaves = new Set(schema.definitions.filter(({ relations }) => relations.length === 0).map(({ name }) => name))
  const byBinding = new Map<string, FuzzTuple>()
  const count = mayCycle ? RING_TUPLES : 15 + random.below(45)
  for (let drawn = 0; drawn < count * 3 && byBinding.size < count; drawn++) {
    const spot = random.pick(spots)
    const ends = drawEnds(random, spot, population)
    const isFree = mayCycle || leaves.has(spot.rule.type) || ends.subject.endsWith(':*')
    if (!isFree && !isForward(population, ends)) continue
    const tuple = { ...ends, relation: spot.relation.name, ...conditions(random, spot, schema) }
    byBinding.set(`${tuple.resource}#${tuple.relation}@${tuple.subject}`, tuple)
  }
  return [...byBinding.values()]
}

function drawEnds(random: Random, { definition, rule }: Spot, { byType }: Population) {
  const resource = random.pick(byType.get(definition.name) ?? [])
  if (rule.part === '*') return { resource, subject: `${rule.type}:*` }
  const object = random.pick(byType.get(rule.type) ?? [])
  return { resource, subject: rule.part === '' ? object : `${object}#${rule.part}` }
}

function isForward({ order }: Population, { resource, subject }: { resource: string; subject: string }): boolean {
  const [object = ''] = subject.split('#')
  return (order.get(resource) ?? 0) < (order.get(object) ?? 0)
}

function conditions(random: Random, { rule }: Spot, schema: SchemaDraft): Partial<FuzzTuple> {
  const caveat = schema.caveats.find(({ name }) => name === rule.caveat)
  const context =
    caveat === undefined || random.chance(0.4) ? {} : drawContext(random, [caveat], { given: 0.5, wrong: 0 })
  return {
    ...(caveat !== undefined && { caveat: caveat.name }),
    ...(Object.keys(context).length > 0 && { context }),
    ...(rule.expires && { expires: random.pick(['past', 'future', 'future'] as const) }),
  }
}
