import * as fc from 'fast-check'

/** Types and relations that random schemas share; only the permissions differ. Caveat-free subjects come first. */
const RELATIONS = `
caveat weekday(day string) {
    day == "weekday"
}

caveat inside(place string) {
    place == "inside"
}

definition user {}

definition group {
    relation member: user | group#member | user with weekday | group#member with inside
}
`

const SUBJECTS = 'user | user:* | group#member | user with weekday | user with inside | group#member with weekday'

const NAMES = ['reader', 'writer', 'banned', 'first', 'second', 'third'] as const
const PERMISSIONS = ['first', 'second', 'third'] as const

/** Of `PERMISSIONS`, the ones that a permission may name on its own object: those before it, so that no cycle is written down. */
const before = (place: number): readonly string[] => ['reader', 'writer', 'banned', ...PERMISSIONS.slice(0, place)]

/** What an arrow is written as; of all that it reaches where `all` is among the operators. */
function arrow(operators: readonly string[]): fc.Arbitrary<string> {
  const forms = operators.includes('all') ? ['->', '.all'] : ['->']
  const parts = fc.tuple(fc.constantFrom('parent', 'home'), fc.constantFrom(...forms), fc.constantFrom(...NAMES))
  return parts.map(([edge, form, name]) => (form === '.all' ? `${edge}.all(${name})` : `${edge}->${name}`))
}

function expression(place: number, allowed: readonly string[]): fc.Arbitrary<string> {
  const operators = allowed.filter((operator) => operator !== 'all')
  const leaf = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...before(place)) },
    { weight: 3, arbitrary: arrow(allowed) },
    { weight: 1, arbitrary: fc.constantFrom('nil', 'self') },
  )
  const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.tuple(tie('node'), fc.constantFrom(...operators), tie('node')).map((parts) => `(${parts.join(' ')})`),
      fc
        .tuple(leaf, fc.constantFrom(...operators), leaf, fc.constantFrom(...operators), leaf)
        .map((all) => all.join(' ')),
    ),
  }))
  return node
}

function definition(type: string, operators: readonly string[]): fc.Arbitrary<string> {
  const expressions = PERMISSIONS.map((_, place) => expression(place, operators))
  return fc.tuple(...expressions).map((bodies) => {
    const permissions = PERMISSIONS.map((name, place) => `    permission ${name} = ${bodies[place]}\n`).join('')
    const roles = ['reader', 'writer', 'banned'].map((name) => `    relation ${name}: ${SUBJECTS}\n`).join('')
    return `definition ${type} {\n    relation parent: folder\n    relation home: folder\n${roles}${permissions}}\n`
  })
}

/** Schemas over users, groups, folders in folders, and files in folders. Operators are `+`, `&`, `-` and `all`. */
export function schemas(operators: readonly string[]): fc.Arbitrary<string> {
  const definitions = fc.tuple(definition('folder', operators), definition('file', operators))
  return definitions.map((texts) => `use self\n${RELATIONS}\n${texts.join('\n')}`)
}

const ids = (type: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${type}:${type}-${at}`)

const USERS = ids('user', 3)
const GROUPS = ids('group', 4)
const FOLDERS = ids('folder', 4)
const FILES = ids('file', 2)

/** Every object that tuples and questions name. */
export const OBJECTS: readonly string[] = [...USERS, ...GROUPS, ...FOLDERS, ...FILES]

export type Shape = 'acyclic' | 'any'

/** A pair out of a list, in rising order where cycles are not wanted. */
function pair(list: readonly string[], shape: Shape): fc.Arbitrary<readonly [string, string]> {
  const place = fc.nat(list.length - 1)
  return fc
    .tuple(place, place)
    .filter(([a, b]) => shape === 'any' || a !== b)
    .map(([a, b]) => (shape === 'any' || a < b ? [a, b] : [b, a]))
    .map(([a = 0, b = 0]) => [list[a] ?? '', list[b] ?? ''] as const)
}

const caveated = (subject: string, caveats: readonly string[]) =>
  fc.constantFrom('', '', ...caveats.map((name) => `[${name}]`)).map((caveat) => subject + caveat)

/** A few dozen tuples over those types, as text. `acyclic`: no group or folder is within itself. */
export function tupleTexts(shape: Shape): fc.Arbitrary<string[]> {
  const user = fc.constantFrom(...USERS)
  const inGroup = fc.tuple(fc.constantFrom(...GROUPS), user).chain(([group, member]) => {
    return caveated(`${group}#member@${member}`, ['weekday'])
  })
  const nested = pair(GROUPS, shape).chain(([outer, inner]) => caveated(`${outer}#member@${inner}#member`, ['inside']))
  const leads = fc.constantFrom('#parent@', '#home@')
  const parent = fc.tuple(pair(FOLDERS, shape), leads).map(([[inner, outer], edge]) => `${inner}${edge}${outer}`)
  const filed = fc.tuple(fc.constantFrom(...FILES), leads, fc.constantFrom(...FOLDERS)).map((parts) => parts.join(''))
  const bearer = fc.oneof(
    user.chain((subject) => caveated(subject, ['weekday', 'inside'])),
    fc.constant('user:*'),
    fc.constantFrom(...GROUPS).chain((group) => caveated(`${group}#member`, ['weekday'])),
  )
  const role = fc
    .tuple(fc.constantFrom(...FOLDERS, ...FILES), fc.constantFrom('reader', 'writer', 'banned'), bearer)
    .map(([object, relation, subject]) => `${object}#${relation}@${subject}`)
  const any = fc.oneof(inGroup, nested, parent, filed, { weight: 3, arbitrary: role })
  return fc.uniqueArray(any, { minLength: 5, maxLength: 40 })
}

/** Every question about folders and files, as text. */
export const QUESTIONS: readonly string[] = [...FOLDERS, ...FILES].flatMap((object) =>
  NAMES.flatMap((name) => [...USERS, FOLDERS[0]].map((subject) => `${object}#${name}@${subject}`)),
)
