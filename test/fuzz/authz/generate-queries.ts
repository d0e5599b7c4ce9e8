import type { SchemaDraft } from './draft.ts'
import type { Features } from './features.ts'
import { drawContext } from './generate-caveat.ts'
import type { Population } from './population.ts'
import type { Random } from './random.ts'
import { partsOf, type Context, type FuzzTuple, type Query } from './world.ts'

const CHECKS = 70
const LOOKUPS = 12

interface Setting {
  readonly random: Random
  readonly schema: SchemaDraft
  readonly features: Features
  readonly population: Population
  readonly tuples: readonly FuzzTuple[]
}

/** Checks and lookups about the objects of the tuples, some about objects that no tuple names. */
export function generateQueries(setting: Setting): Query[] {
  const { random, schema, features } = setting
  const names = schema.definitions.flatMap(({ name, relations, permissions }) => [
    ...relations.map((relation) => ({ type: name, permission: relation.name })),
    ...permissions.flatMap((permission) => [1, 2, 3].map(() => ({ type: name, permission: permission.name }))),
  ])
  if (names.length === 0) return []
  const contexts: Context[] = [0, 0.5, 1].map((given) => drawContext(random, schema.caveats, { given, wrong: 0.01 }))
  const context = () => (schema.caveats.length === 0 ? {} : { context: random.pick(contexts) })

  function check(): Query {
    const { resource, permission } = resourceAndName(setting, names)
    return { kind: 'check', resource, permission, subject: subject(setting), ...context() }
  }

  function resources(): Query {
    return { kind: 'resources', ...random.pick(names), subject: subject(setting), ...context() }
  }

  function subjects(): Query {
    const { resource, permission } = resourceAndName(setting, names)
    return { kind: 'subjects', resource, permission, subjects: subjectType(setting), ...context() }
  }

  const times = (count: number, draw: () => Query): Query[] => Array.from({ length: count }, draw)
  return [
    ...times(CHECKS, check),
    ...(features.lookups ? [...times(LOOKUPS, resources), ...times(LOOKUPS, subjects)] : []),
  ]
}

interface Name {
  readonly type: string
  readonly permission: string
}

/** Mostly a resource of a tuple. */
function resourceAndName(setting: Setting, names: readonly Name[]): { resource: string; permission: string } {
  const { random, tuples } = setting
  if (tuples.length === 0 || random.chance(0.15)) {
    const { type, permission } = random.pick(names)
    return { resource: object(setting, type), permission }
  }
  const { resource, relation } = random.pick(tuples)
  const known = names.filter(({ type }) => type === partsOf(resource)[0])
  return { resource, permission: random.chance(0.2) ? relation : random.pick(known).permission }
}

function object({ random, population }: Setting, type: string): string {
  return random.chance(0.02) ? `${type}:nobody` : random.pick(population.byType.get(type) ?? [])
}

/** Mostly an object that tuples name as their subject. */
function subject(setting: Setting): string {
  const { random, features, tuples, population } = setting
  const named = tuples.map((tuple) => tuple.subject).filter((each) => !each.endsWith(':*'))
  if (random.chance(0.03) || named.length === 0) return 'user:nobody'
  if (features.usersetSubjects && random.chance(0.12)) return random.pick(named)
  if (random.chance(0.6)) return random.pick(population.byType.get('user') ?? [])
  const [type, id] = partsOf(random.pick(named))
  return `${type}:${id}`
}

function subjectType({ random, features, tuples, schema }: Setting): string {
  const usersets = tuples.flatMap((tuple) => {
    const [type, , relation] = partsOf(tuple.subject)
    return relation === '' ? [] : [`${type}#${relation}`]
  })
  if (features.usersetLookups && usersets.length > 0 && random.chance(0.15)) return random.pick(usersets)
  return random.chance(0.75) ? 'user' : random.pick(schema.definitions).name
}
