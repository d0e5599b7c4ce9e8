/** A subject of a set, and the relations of objects through which it was found (`document:plan#viewer`). */
export interface Found {
  /** It depends on a caveat, whatever the caveat's result is. */
  readonly isConditional: boolean
  readonly through: ReadonlySet<string>
}

/** Everyone of the type, with exceptions. */
export interface FoundWildcard extends Found {
  readonly exceptions: ReadonlyMap<string, Found>
}

/** Subjects of one kind, by id. As in SpiceDB, a wildcard is kept beside the named subjects. */
export interface SubjectSet {
  readonly concrete: ReadonlyMap<string, Found>
  readonly wildcard: FoundWildcard | undefined
}

export const EMPTY: SubjectSet = { concrete: new Map(), wildcard: undefined }

const joined = (...founds: readonly Found[]): ReadonlySet<string> =>
  new Set(founds.flatMap(({ through }) => [...through]))

const either = (a: Found, b: Found): Found => ({
  isConditional: a.isConditional && b.isConditional,
  through: joined(a, b),
})

const both = (a: Found, b: Found): Found => ({
  isConditional: a.isConditional || b.isConditional,
  through: joined(a, b),
})

export const conditionally = ({ through }: Found): Found => ({ isConditional: true, through })

/** Subjects that are in any of the sets. */
export function union(sets: readonly SubjectSet[]): SubjectSet {
  const [first, ...others] = sets
  if (first === undefined || others.length === 0) return first ?? EMPTY
  const concrete = new Map(first.concrete)
  for (const set of others) {
    for (const [id, found] of set.concrete) {
      const known = concrete.get(id)
      concrete.set(id, known === undefined ? found : either(known, found))
    }
  }
  return { concrete, wildcard: unionOfWildcards(sets, concrete) }
}

/**
 * An exception of one wildcard is included again by another wildcard or by a tuple of its own; a conditional one adds a
 * condition.
 */
function unionOfWildcards(
  sets: readonly SubjectSet[],
  concrete: ReadonlyMap<string, Found>,
): FoundWildcard | undefined {
  const wildcards = sets.flatMap(({ wildcard }) => wildcard ?? [])
  const all = wildcards.reduce<FoundWildcard | undefined>((so, wildcard) => {
    if (so === undefined) return wildcard
    const exceptions = intersectConcrete(so.exceptions, wildcard.exceptions)
    return { ...either(so, wildcard), exceptions }
  }, undefined)
  if (all === undefined) return undefined
  const exceptions = new Map<string, Found>()
  for (const [id, exception] of all.exceptions) {
    const own = concrete.get(id)
    if (own === undefined) exceptions.set(id, exception)
    else if (own.isConditional) exceptions.set(id, both(exception, own))
  }
  return { ...all, exceptions }
}

function intersectConcrete(a: ReadonlyMap<string, Found>, b: ReadonlyMap<string, Found>): Map<string, Found> {
  const shared = new Map<string, Found>()
  for (const [id, found] of a) {
    const other = b.get(id)
    if (other !== undefined) shared.set(id, both(found, other))
  }
  return shared
}

/** Subjects that are in both sets. */
export function intersection(a: SubjectSet, b: SubjectSet): SubjectSet {
  const concrete = new Map<string, Found>()
  for (const [id, found] of a.concrete) {
    const other = b.concrete.get(id)
    put(concrete, id, other && both(found, other))
    put(concrete, id, underWildcard(id, found, b.wildcard))
  }
  for (const [id, found] of b.concrete) put(concrete, id, underWildcard(id, found, a.wildcard))
  return { concrete, wildcard: intersectWildcards(a.wildcard, b.wildcard) }
}

function put(set: Map<string, Found>, id: string, found: Found | undefined): void {
  if (found === undefined) return
  const known = set.get(id)
  set.set(id, known === undefined ? found : either(known, found))
}

/** A named subject intersected with a wildcard. */
function underWildcard(id: string, found: Found, wildcard: FoundWildcard | undefined): Found | undefined {
  if (wildcard === undefined) return undefined
  const exception = wildcard.exceptions.get(id)
  if (exception?.isConditional === false) return undefined
  if (exception !== undefined) return { isConditional: true, through: joined(found, wildcard, exception) }
  return wildcard.isConditional ? both(found, wildcard) : found
}

function intersectWildcards(a: FoundWildcard | undefined, b: FoundWildcard | undefined): FoundWildcard | undefined {
  if (a === undefined || b === undefined) return undefined
  const exceptions = new Map(a.exceptions)
  for (const [id, exception] of b.exceptions) put(exceptions, id, exception)
  return { ...both(a, b), exceptions }
}

/** Subjects of the first set that are not in the second. */
export function exclusion(from: SubjectSet, without: SubjectSet): SubjectSet {
  const concrete = new Map<string, Found>()
  for (const [id, found] of from.concrete) {
    const left = remains(found, without.concrete.get(id))
    const beyond = left && remainsBeyond(id, left, without.wildcard)
    if (beyond !== undefined) concrete.set(id, beyond)
  }
  const less = from.wildcard && lessConcrete(from.wildcard, without.concrete)
  if (less === undefined || without.wildcard === undefined) return { concrete, wildcard: less }
  for (const [id, found] of exceptedAgain(less, without.wildcard)) concrete.set(id, found)
  return { concrete, wildcard: lessWildcard(less, without.wildcard) }
}

/** The rest of an excluded subject: nothing, or a conditional subject if the exclusion has a caveat. */
function remains(found: Found, taken: Found | undefined): Found | undefined {
  if (taken === undefined) return found
  return taken.isConditional ? { isConditional: true, through: joined(found, taken) } : undefined
}

function remainsBeyond(id: string, found: Found, wildcard: FoundWildcard | undefined): Found | undefined {
  if (wildcard === undefined) return found
  const exception = wildcard.exceptions.get(id)
  if (exception?.isConditional === false) return found
  return exception !== undefined || wildcard.isConditional ? conditionally(found) : undefined
}

function lessConcrete(wildcard: FoundWildcard, taken: ReadonlyMap<string, Found>): FoundWildcard {
  const exceptions = new Map(wildcard.exceptions)
  for (const [id, found] of taken) put(exceptions, id, found)
  return { ...wildcard, exceptions }
}

/** Exceptions of the excluded wildcard that the other wildcard covers: they stay as named subjects. */
function exceptedAgain(from: FoundWildcard, without: FoundWildcard): [string, Found][] {
  return [...without.exceptions].flatMap(([id, exception]): [string, Found][] => {
    const known = from.exceptions.get(id)
    if (known?.isConditional === false) return []
    const isConditional = from.isConditional || without.isConditional || exception.isConditional || known !== undefined
    return [[id, { isConditional, through: exception.through }]]
  })
}

/** SpiceDB keeps a conditional wildcard if an unconditional one with exceptions is excluded from it. */
function lessWildcard(from: FoundWildcard, without: FoundWildcard): FoundWildcard | undefined {
  if (!without.isConditional && without.exceptions.size === 0) return undefined
  if (!from.isConditional && !without.isConditional) return undefined
  return { isConditional: true, through: joined(from, without), exceptions: from.exceptions }
}

/** The same subjects with one more condition. */
export function underCondition({ concrete, wildcard }: SubjectSet): SubjectSet {
  return {
    concrete: new Map([...concrete].map(([id, found]) => [id, conditionally(found)])),
    wildcard: wildcard && { ...wildcard, isConditional: true },
  }
}
