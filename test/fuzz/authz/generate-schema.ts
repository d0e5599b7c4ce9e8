import type { CaveatDraft, DefinitionDraft, ExpressionDraft, RelationDraft, RuleDraft, SchemaDraft } from './draft.ts'
import type { Features } from './features.ts'
import { generateCaveats } from './generate-caveat.ts'
import { withoutMiscounts } from './miscounts.ts'
import type { Random } from './random.ts'
import { withoutWildcardUsersets } from './wildcard-usersets.ts'

const LEAVES = ['user', 'service'] as const
const NODES = ['group', 'folder', 'doc', 'team/unit', 'org'] as const
const RELATIONS = ['viewer', 'editor', 'member', 'banned', 'parent', 'link', 'owner'] as const
const PERMISSIONS = ['view', 'edit', 'share', 'admin_all'] as const
/** Relations of these names lead to objects that arrows go on from, most of the time. */
const EDGES: ReadonlySet<string> = new Set(['parent', 'link', 'owner'])

/** Names that all definitions of one schema use, drawn before any definition is. */
interface Outline {
  readonly features: Features
  readonly caveats: readonly CaveatDraft[]
  readonly types: readonly { readonly name: string; readonly relations: string[]; readonly permissions: string[] }[]
}

/** A schema that SpiceDB takes, nearly always. */
export function generateSchema(random: Random, features: Features): SchemaDraft {
  const caveats = features.caveats ? generateCaveats(random, caveatNames(random)) : []
  const names = [...LEAVES.slice(0, 1 + random.below(2)), ...random.shuffled(NODES).slice(0, 1 + random.below(3))]
  const types = names.map((name) => {
    const isLeaf = LEAVES.some((leaf) => leaf === name) && random.chance(0.85)
    if (isLeaf) return { name, relations: [], permissions: [] }
    return {
      name,
      relations: random.shuffled(RELATIONS).slice(0, 1 + random.below(5)),
      permissions: PERMISSIONS.slice(0, random.below(5)),
    }
  })
  const outline = { features, caveats, types }
  const definitions = types.map((type) => definition(random, outline, type))
  return {
    uses: ['self', ...(features.expiration ? ['expiration'] : [])],
    caveats,
    definitions: random.chance(0.97) ? withoutMiscounts(withoutWildcardUsersets(definitions)) : definitions,
  }
}

const caveatNames = (random: Random): string[] => ['when', 'where', 'how_much'].slice(0, random.below(4))

function definition(random: Random, outline: Outline, type: Outline['types'][number]): DefinitionDraft {
  const relations = type.relations.map((name) => ({ name, rules: rules(random, outline, name) }))
  const permissions = type.permissions.map((name, place) => {
    const own = [...type.relations, ...type.permissions.slice(0, place)]
    return { name, expression: expression({ random, outline, relations, own }, 3) }
  })
  return { name: type.name, relations, permissions }
}

function rules(random: Random, outline: Outline, relation: string): RuleDraft[] {
  const isEdge = EDGES.has(relation) && random.chance(0.9)
  const count = 1 + random.below(isEdge ? 2 : 4)
  const drawn = Array.from({ length: count }, () => rule(random, outline, isEdge))
  return [...new Map(drawn.map((each) => [Object.values(each).join(), each])).values()]
}

function rule(random: Random, outline: Outline, isEdge: boolean): RuleDraft {
  const { caveats, features, types } = outline
  const inner = types.filter(({ relations }) => relations.length > 0)
  const type = inner.length > 0 && random.chance(isEdge ? 0.95 : 0.4) ? random.pick(inner) : random.pick(types)
  return {
    type: type.name,
    part: part(random, type, isEdge),
    caveat: caveats.length > 0 && random.chance(0.35) ? random.pick(caveats).name : '',
    expires: features.expiration && random.chance(0.15),
  }
}

function part(random: Random, type: Outline['types'][number], isEdge: boolean): string {
  const members = [...type.relations, ...type.relations, ...type.permissions]
  if (members.length > 0 && random.chance(isEdge ? 0.1 : 0.65)) return random.pick(members)
  return !isEdge && random.chance(0.3) ? '*' : ''
}

/** Where an expression stands: the relations of its type, and the names that it may refer to. */
interface Place {
  readonly random: Random
  readonly outline: Outline
  readonly relations: readonly RelationDraft[]
  readonly own: readonly string[]
}

function expression(place: Place, depth: number): ExpressionDraft {
  const { random } = place
  if (depth === 0 || random.chance(0.35)) return { kind: 'leaf', text: leaf(place) }
  const operator = random.pick(['+', '+', '+', '&', '-'] as const)
  const left = expression(place, depth - 1)
  return { kind: 'binary', operator, left, right: expression(place, depth - 1), enclosed: random.chance(0.6) }
}

function leaf(place: Place): string {
  const { random, own, relations } = place
  const edges = relations.filter(({ rules: all }) => all.every((each) => each.part !== '*'))
  if (edges.length > 0 && random.chance(0.4)) return arrow(place, random.pick(edges))
  if (random.chance(0.07)) return random.pick(['nil', 'self'])
  return random.pick(own)
}

function arrow({ random, outline }: Place, { name, rules: all }: RelationDraft): string {
  const reached = outline.types.filter((type) => all.some((each) => each.type === type.name))
  const known = reached.flatMap(({ relations, permissions }) => [...relations, ...permissions, ...permissions])
  const target = known.length > 0 && random.chance(0.95) ? random.pick(known) : random.pick(RELATIONS)
  if (!outline.features.functions || random.chance(0.55)) return `${name}->${target}`
  return `${name}.${random.pick(['any', 'all', 'all'])}(${target})`
}
