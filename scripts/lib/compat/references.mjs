/** References that follow each other; more is a circle that says nothing. */
const HOPS_MAX = 32

/**
 * What a value of the document is once its reference is followed; members beside the reference are laid over it.
 *
 * @throws Error when the reference leads nowhere or in a circle.
 */
export function resolved(document, value) {
  let at = value
  for (let hops = 0; at?.$ref !== undefined; hops += 1) {
    if (hops === HOPS_MAX) throw new Error(`${at.$ref} refers to itself`)
    const { $ref, ...beside } = at
    at = { ...target(document, $ref), ...beside }
  }
  return at
}

function target(document, reference) {
  const steps = /^#\/(.+)$/.exec(reference)?.[1].split('/') ?? []
  const found = steps.reduce((at, step) => at?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document)
  if (steps.length === 0 || found === undefined) throw new Error(`${reference} leads nowhere in the document`)
  return found
}

/** A text that is the same for values that mean the same: members sorted, words for people left out. */
export function canonical(value) {
  return JSON.stringify(value, (_, member) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    const kept = Object.entries(member).filter(([key, inner]) => !(isProse(key) && typeof inner !== 'object'))
    return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** Words that mean nothing to a program. */
export function isProse(key) {
  return ['description', 'title', 'summary', '$comment'].includes(key)
}
