import { flattened } from './all-of.mjs'
import { canonical, isProse, resolved } from './references.mjs'

/** How deep schemas may nest. */
const DEPTH_MAX = 64

const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const ALL_TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

/** Keywords that a rule below speaks for, and those that say nothing to a program. */
const SPOKEN_FOR = new Set(
  [UPPER, LOWER, ['type', 'enum', 'const', 'pattern', 'format', 'default', 'properties', 'required', 'items']]
    .concat([['additionalProperties', 'anyOf', 'oneOf', 'examples', 'example', 'deprecated', 'id', '$id', '$schema']])
    .flat(),
)

/**
 * Tells how two schemas differ.
 *
 * @param pair `base` and `next`, schemas of the documents that `walk` holds
 * @param walk `documents` with both of them, `report(name, words)`, `place` in words, and the `trail` of references that
 *   led here, which ends recursion
 */
export function schemaDifferences(pair, walk) {
  const step = stepOf(pair)
  if (step !== undefined && walk.trail.includes(step)) return
  const trail = [...walk.trail, step]
  if (trail.length > DEPTH_MAX) throw new Error(`${walk.place} nests deeper than ${DEPTH_MAX} levels`)
  const base = withoutUnionOfNull(flattened(walk.documents.base, pair.base))
  const next = withoutUnionOfNull(flattened(walk.documents.next, pair.next))
  for (const rule of rulesFor(base, next)) rule({ base, next }, { ...walk, trail })
}

/** A schema that is nothing but alternatives is compared by them with one that has none, which is then the only one. */
function rulesFor(base, next) {
  const unions = [base, next].filter((schema) => unionOf(schema) !== undefined)
  if (unions.length === 0) return RULES
  if (unions.length === 2) return [...RULES, alternatives]
  const hasMore = Object.keys(unions[0]).some((key) => !['anyOf', 'oneOf', 'default'].includes(key) && !isProse(key))
  return hasMore ? [...RULES, unionItself] : [alternatives]
}

function unionItself({ base }, { report }) {
  if (unionOf(base) === undefined) report('schema-introduced', 'it must also be one of alternatives')
  else report('schema-dropped', 'it need no longer be one of alternatives')
}

/** Names a pair of references, which may lead back to themselves. */
function stepOf({ base, next }) {
  return base.$ref === undefined || next.$ref === undefined ? undefined : `${base.$ref} ${next.$ref}`
}

/** `anyOf: [X, null]` reads as X that may also be null. */
function withoutUnionOfNull(schema) {
  const union = unionOf(schema) ?? []
  const others = union.filter(({ type }) => type !== 'null')
  if (others.length !== 1 || others.length === union.length || others[0].$ref !== undefined) return schema
  const { anyOf: _, oneOf: __, ...beside } = schema
  return { ...others[0], ...beside, type: [...typesOf(others[0]), 'null'] }
}

function unionOf(schema) {
  return schema?.anyOf ?? schema?.oneOf
}

/** Alternatives that are equal pair up; so do those of one name, then what is left, in order. */
function alternatives({ base, next }, walk) {
  const gone = [...(unionOf(base) ?? [base])]
  const come = [...(unionOf(next) ?? [next])]
  const pairs = [canonicalIn, nameOf].flatMap((key) => takePairs(gone, come, (side) => key(side, walk.documents)))
  while (gone.length > 0 && come.length > 0 && gone.length === come.length) {
    pairs.push({ base: gone.shift(), next: come.shift() })
  }
  for (const pair of pairs) schemaDifferences(pair, walk)
  for (const schema of gone) walk.report('alternative-removed', `no longer one of its alternatives: ${words(schema)}`)
  for (const schema of come) walk.report('alternative-added', `a new alternative: ${words(schema)}`)
}

function takePairs(gone, come, key) {
  const pairs = []
  for (const base of gone.slice()) {
    const wanted = key({ side: 'base', schema: base })
    const next = wanted && come.find((schema) => key({ side: 'next', schema }) === wanted)
    if (!next) continue
    pairs.push({ base, next })
    gone.splice(gone.indexOf(base), 1)
    come.splice(come.indexOf(next), 1)
  }
  return pairs
}

function canonicalIn({ side, schema }, documents) {
  return canonical(resolved(documents[side], schema))
}

function nameOf({ schema }) {
  return schema.$ref
}

function words(schema) {
  return schema.$ref?.split('/').at(-1) ?? canonical(schema)
}

const RULES = [
  types,
  enums,
  bounds,
  patterns,
  formats,
  defaults,
  members,
  requirements,
  unknownMembers,
  items,
  otherKeywords,
]

/** `number` takes integers too. */
function typesOf({ type }) {
  const named = type === undefined ? ALL_TYPES : [type].flat()
  return named.includes('number') ? [...new Set([...named, 'integer'])] : named
}

function types({ base, next }, { report }) {
  const [before, after] = [typesOf(base), typesOf(next)]
  const gone = before.filter((type) => !after.includes(type))
  const come = after.filter((type) => !before.includes(type))
  const said = `type ${typeWords(base)} became ${typeWords(next)}`
  if (gone.length > 0 && come.length > 0) report('type-changed', said)
  else if (gone.length > 0) report('type-narrowed', said)
  else if (come.length > 0) report('type-widened', said)
}

function typeWords({ type }) {
  return type === undefined ? 'any' : [type].flat().join(' or ')
}

function enumOf({ enum: values, const: only }) {
  return only === undefined ? values : [only]
}

function enums({ base, next }, { report }) {
  const [before, after] = [enumOf(base), enumOf(next)]
  if (before === undefined || after === undefined) {
    if (after !== undefined) report('enum-introduced', `only ${after.map(json).join(', ')} from now on`)
    if (before !== undefined) report('enum-dropped', 'its list of values is gone')
    return
  }
  const missing = (from, values) => from.filter((value) => !values.some((other) => json(other) === json(value)))
  for (const value of missing(before, after)) report('enum-value-removed', `the value ${json(value)} is gone`)
  for (const value of missing(after, before)) report('enum-value-added', `the value ${json(value)} is new`)
}

function bounds({ base, next }, { report }) {
  for (const keyword of [...UPPER, ...LOWER]) {
    const [before, after] = [base[keyword], next[keyword]]
    if (before === after) continue
    const sign = UPPER.includes(keyword) ? 1 : -1
    const room = (bound) => (bound === undefined ? Infinity : sign * bound)
    const name = room(after) < room(before) ? 'bound-tightened' : 'bound-loosened'
    report(name, `${keyword} ${before ?? 'none'} became ${after ?? 'none'}`)
  }
}

/** A keyword that is there or not, and whose values cannot be compared but for being the same. */
function opaque(keyword) {
  return ({ base, next }, { report }) => {
    const [before, after] = [base[keyword], next[keyword]]
    if (before === after) return
    if (before === undefined) report(`${keyword}-introduced`, `${keyword} ${after} from now on`)
    else if (after === undefined) report(`${keyword}-dropped`, `${keyword} ${before} is gone`)
    else report(`${keyword}-changed`, `${keyword} ${before} became ${after}`)
  }
}

function patterns(pair, walk) {
  opaque('pattern')(pair, walk)
}

function formats(pair, walk) {
  opaque('format')(pair, walk)
}

function defaults({ base, next }, { report }) {
  if (json(base.default) === json(next.default)) return
  report('default-changed', `default ${json(base.default) ?? 'none'} became ${json(next.default) ?? 'none'}`)
}

function members({ base, next }, walk) {
  const [before, after] = [base.properties ?? {}, next.properties ?? {}]
  const names = Object.keys({ ...before, ...after })
  for (const name of names) {
    if (!Object.hasOwn(after, name)) walk.report('property-removed', `the member ${name} is gone`)
    else if (Object.hasOwn(before, name)) {
      schemaDifferences({ base: before[name], next: after[name] }, within(walk, `.${name}`))
    } else if (next.required?.includes(name)) {
      walk.report('required-property-added', `the required member ${name} is new`)
    } else walk.report('property-added', `the member ${name} is new`)
  }
}

/** Of members that both know, or that neither says more about. */
function requirements({ base, next }, { report }) {
  const isComing = (name) => Object.hasOwn(next.properties ?? {}, name) && !Object.hasOwn(base.properties ?? {}, name)
  const isGoing = (name) => Object.hasOwn(base.properties ?? {}, name) && !Object.hasOwn(next.properties ?? {}, name)
  const [before, after] = [base.required ?? [], next.required ?? []]
  for (const name of after.filter((each) => !before.includes(each) && !isComing(each))) {
    report('property-became-required', `the member ${name} became required`)
  }
  for (const name of before.filter((each) => !after.includes(each) && !isGoing(each))) {
    report('property-became-optional', `the member ${name} became optional`)
  }
}

function unknownMembers({ base, next }, walk) {
  const [before, after] = [base.additionalProperties ?? true, next.additionalProperties ?? true]
  if (before === after) return
  // A schema says what they must be; true stands for anything.
  const schema = (value) => (value === true ? {} : value)
  if (before === false) walk.report('unknown-members-allowed', 'members that it does not know are allowed')
  else if (after === false) walk.report('unknown-members-refused', 'members that it does not know are refused')
  else schemaDifferences({ base: schema(before), next: schema(after) }, within(walk, '.*'))
}

function items({ base, next }, walk) {
  const [before, after] = [base.items, next.items]
  if (before === undefined && after === undefined) return
  if (before === undefined) walk.report('schema-introduced', 'what its items are is said')
  else if (after === undefined) walk.report('schema-dropped', 'what its items are is no longer said')
  else schemaDifferences({ base: before, next: after }, within(walk, '[]'))
}

/** Whatever no rule speaks for is taken for a break: somebody has to look. */
function otherKeywords({ base, next }, { report }) {
  const keywords = new Set([...Object.keys(base), ...Object.keys(next)])
  for (const keyword of keywords) {
    if (SPOKEN_FOR.has(keyword) || isProse(keyword) || keyword.startsWith('x-')) continue
    if (canonical(base[keyword]) !== canonical(next[keyword])) report('keyword-changed', `${keyword} changed`)
  }
}

function within(walk, step) {
  const place = `${walk.place}${step}`
  return { ...walk, place, report: walk.reportAt(place) }
}

function json(value) {
  return JSON.stringify(value)
}
