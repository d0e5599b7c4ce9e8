import type { Overload } from './overloads.ts'
import { DYN, type StaticType } from './static-type.ts'
import { isSame, type Unifier } from './unify.ts'

/** The result type of a call: `dyn` where several overloads match and differ; undefined where none matches. */
export function chooseOverload(
  unifier: Unifier,
  overloads: readonly Overload[],
  given: readonly StaticType[],
): StaticType | undefined {
  let result: StaticType | undefined
  for (const overload of overloads) {
    const [returned = DYN, ...wanted] = instantiate(unifier, [overload.result, ...overload.args])
    if (!unifier.assignable(given, wanted)) continue
    const found = unifier.resolve(returned)
    result = result === undefined || isSame(result, found) ? found : DYN
  }
  return result
}

/** Instantiates an overload with fresh type parameters. */
function instantiate(unifier: Unifier, types: readonly StaticType[]): StaticType[] {
  const own = new Map<number, StaticType>()
  const rename = (type: StaticType): StaticType => {
    if (type.kind !== 'param') return type.of.length === 0 ? type : { ...type, of: type.of.map(rename) }
    const fresh = own.get(type.id) ?? unifier.fresh()
    own.set(type.id, fresh)
    return fresh
  }
  return types.map(rename)
}

/** The common type of all types: `dyn` where they differ. */
export function joined(unifier: Unifier, types: readonly StaticType[]): StaticType {
  const [first = unifier.fresh(), ...rest] = types
  return rest.reduce((all, type) => unifier.join(all, type) ?? DYN, first)
}
