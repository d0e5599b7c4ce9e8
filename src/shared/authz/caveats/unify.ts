import { param, type StaticType } from './static-type.ts'

/** Kinds whose values may be `null`. */
const NULLABLE: ReadonlySet<string> = new Set(['null_type', 'duration', 'timestamp', 'ipaddress'])

/**
 * Infers the types of type parameters, as the checker of cel-go does: a parameter takes the first type that it meets and
 * later the more general one of those that agree. `dyn` agrees with everything.
 */
export interface Unifier {
  fresh(): StaticType
  /** Whether each `given` may be used as its `wanted`; records inferred types only if all may. */
  assignable(given: readonly StaticType[], wanted: readonly StaticType[]): boolean
  /** The type with what is known of its parameters filled in. */
  resolve(type: StaticType): StaticType
  /** The type that holds both where one is a case of the other, else undefined. */
  join(a: StaticType, b: StaticType): StaticType | undefined
}

export function createUnifier(): Unifier {
  const found = new Map<number, StaticType>()
  /** The types inferred since the last check, to be reverted when it fails. */
  let trail: { readonly id: number; readonly before: StaticType | undefined }[] = []
  let last = 0

  function set(id: number, type: StaticType): void {
    trail.push({ id, before: found.get(id) })
    found.set(id, type)
  }

  function takeBack(): void {
    for (const { id, before } of trail.toReversed()) {
      if (before === undefined) found.delete(id)
      else found.set(id, before)
    }
  }

  function assignable(given: readonly StaticType[], wanted: readonly StaticType[]): boolean {
    trail = []
    const holds = allAgree(given, wanted)
    if (!holds) takeBack()
    return holds
  }

  function allAgree(a: readonly StaticType[], b: readonly StaticType[]): boolean {
    return a.length === b.length && a.every((type, at) => agree(type, b[at] ?? type))
  }

  function agree(a: StaticType, b: StaticType): boolean {
    if (b.kind === 'param') {
      const isKnown = found.has(b.id)
      if (standsFor(b, a)) return true
      if (isKnown) return false
    }
    if (a.kind === 'param') return standsFor(a, b)
    if (a.kind === 'dyn' || b.kind === 'dyn') return true
    return sameKind(a, b)
  }

  function sameKind(a: StaticType, b: StaticType): boolean {
    if (a.kind === 'null_type') return NULLABLE.has(b.kind)
    if (b.kind === 'null_type') return NULLABLE.has(a.kind)
    return a.kind === b.kind && (a.kind === 'type' || allAgree(a.of, b.of))
  }

  /** Whether the parameter may represent the type. */
  function standsFor(parameter: StaticType, type: StaticType): boolean {
    if (isSame(parameter, type)) return true
    const known = found.get(parameter.id)
    if (known !== undefined && isSame(known, type)) return true
    if (known !== undefined && !agree(type, known)) return false
    const general = known === undefined ? type : moreGeneral(type, known)
    const isFree = !mentions(general, parameter)
    if (isFree) set(parameter.id, general)
    return isFree || known !== undefined
  }

  function mentions(type: StaticType, parameter: StaticType): boolean {
    if (isSame(type, parameter)) return true
    const sub = type.kind === 'param' ? found.get(type.id) : undefined
    if (sub !== undefined) return mentions(sub, parameter)
    return type.of.some((inner) => mentions(inner, parameter))
  }

  function resolve(type: StaticType): StaticType {
    const sub = type.kind === 'param' ? found.get(type.id) : undefined
    if (sub !== undefined) return resolve(sub)
    return type.of.length === 0 ? type : { ...type, of: type.of.map(resolve) }
  }

  return {
    fresh: () => param(++last),
    assignable,
    resolve,
    join: (a, b) => (assignable([a], [b]) ? moreGeneral(a, b) : undefined),
  }
}

/** Whether the types are one and the same. */
export function isSame(a: StaticType, b: StaticType): boolean {
  return a.kind === b.kind && a.id === b.id && a.of.every((inner, at) => isSame(inner, b.of[at] ?? inner))
}

function moreGeneral(a: StaticType, b: StaticType): StaticType {
  return isGeneral(a, b) ? a : b
}

function isGeneral(a: StaticType, b: StaticType): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true
  if (b.kind === 'dyn' || b.kind === 'param' || a.kind !== b.kind) return false
  return a.of.every((inner, at) => isGeneral(inner, b.of[at] ?? inner))
}
