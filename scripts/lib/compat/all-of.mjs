import { canonical, isProse, resolved } from './references.mjs'

/** How deep `allOf` may nest. */
const DEPTH_MAX = 16

/**
 * A schema with the parts of its `allOf` put together, as a reader sees the value that has to fit all of them: members are
 * those of every part, and required where one part requires them. Keywords that parts set differently are left in
 * `allOf`, so that the comparison does not lose them.
 *
 * @throws Error when parts nest too deep.
 */
export function flattened(document, value, depth = 0) {
  const { allOf, ...beside } = resolved(document, value)
  if (allOf === undefined) return beside
  if (depth === DEPTH_MAX) throw new Error(`allOf nests deeper than ${DEPTH_MAX} levels`)
  const parts = [...allOf, beside].map((part) => flattened(document, part, depth + 1))
  return parts.reduce((whole, part) => merged(document, whole, part), {})
}

function merged(document, one, other) {
  const whole = { ...one }
  for (const [key, value] of Object.entries(other)) {
    if (whole[key] === undefined || isProse(key)) whole[key] = value
    else if (key === 'properties') whole[key] = membersOfBoth(document, whole[key], value)
    else if (key === 'required') whole[key] = [...new Set([...whole[key], ...value])]
    else if (canonical(whole[key]) !== canonical(value)) whole.allOf = [...(whole.allOf ?? []), { [key]: value }]
  }
  return whole
}

function membersOfBoth(document, one, other) {
  const shared = Object.keys(other).filter((name) => Object.hasOwn(one, name))
  const narrowed = shared.map((name) => [name, narrowerOf(document, one[name], other[name])])
  return { ...one, ...other, ...Object.fromEntries(narrowed) }
}

/** Alternatives of the type that the other part demands say more than that part does. */
function narrowerOf(document, one, other) {
  const { type, ...more } = resolved(document, one)
  const alternatives = resolved(document, other).anyOf ?? []
  const isPlain = typeof type === 'string' && Object.keys(more).every(isProse)
  const isImplied = alternatives.length > 0 && alternatives.every((each) => resolved(document, each).type === type)
  return isPlain && isImplied ? other : flattened(document, { allOf: [one, other] })
}
