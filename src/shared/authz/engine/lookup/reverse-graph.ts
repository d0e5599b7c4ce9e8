import type { Askable, Expression, Model, PermissionModel, RelationModel } from '../../model.ts'

/** A permission that something else brings about. */
export interface Dependent {
  readonly permission: PermissionModel
  /** Whether it surely holds where the other does; else a check must decide, since it intersects, excludes or requires all. */
  readonly isCertain: boolean
}

/** By the number of the relation that an arrow follows. */
export type ArrowTable = readonly (readonly Dependent[] | undefined)[]

/** A model read from its subjects upwards: what holds on which object because something else holds. */
export interface ReverseGraph {
  /** By relation or permission: permissions of the same object that name it. */
  readonly local: readonly (readonly Dependent[])[]
  /** By relation or permission: what the objects that point at its object have of it. Undefined where no arrow asks for it. */
  readonly arrows: readonly (ArrowTable | undefined)[]
  /** By type: permissions that an object of it has on itself. */
  readonly selves: readonly (readonly Dependent[])[]
  /** By type: relations of its sets (`group#member`) that an arrow follows to their object. */
  readonly followedSets: readonly (readonly Askable[])[]
  /** By relation or permission: whether the asked one can follow from it. */
  leadsTo(asked: Askable): Uint8Array
}

interface Draft {
  readonly dependence: Dependence
  readonly local: Dependent[][]
  readonly arrows: (Dependent[] | undefined)[][]
  readonly selves: Dependent[][]
  readonly followedSets: Set<Askable>[]
  /** By relation or permission: what it rests on. */
  readonly restsOn: Set<number>[]
}

/**
 * Which dependents there are: `granting` those that something brings about, enough to find all that it grants, or `any`
 * whose answer hangs on it in any way, what they exclude and the tuples that they follow included.
 */
export type Dependence = 'granting' | 'any'

/** Turns a model round. The cost is that of reading it once. */
export function reverseGraph({ types }: Model, dependence: Dependence): ReverseGraph {
  const count = types.reduce((sum, { relations, permissions }) => sum + relations.length + permissions.length, 0)
  const draft: Draft = {
    dependence,
    local: Array.from({ length: count }, () => []),
    arrows: Array.from({ length: count }, () => []),
    selves: types.map(() => []),
    followedSets: types.map(() => new Set()),
    restsOn: Array.from({ length: count }, () => new Set()),
  }
  for (const { relations, permissions } of types) {
    for (const relation of relations) addRelation(draft, relation)
    for (const permission of permissions) addExpression(draft, { permission, isCertain: true }, permission.expression)
  }
  const reached = new Map<Askable, Uint8Array>()
  return {
    local: draft.local,
    arrows: draft.arrows.map((table) => (table.length === 0 ? undefined : table)),
    selves: draft.selves,
    followedSets: draft.followedSets.map((sets) => [...sets]),
    leadsTo(asked) {
      const known = reached.get(asked) ?? closure(draft.restsOn, asked.id)
      reached.set(asked, known)
      return known
    },
  }
}

function addRelation({ restsOn }: Draft, { id, subjects }: RelationModel): void {
  for (const { relation } of subjects) if (relation !== undefined) restsOn[id]?.add(relation.id)
}

/** What grants an intersection grants its first part, what grants an exclusion grants what it is made from. */
function addExpression(draft: Draft, dependent: Dependent, expression: Expression): void {
  const { op, parts, reference } = expression
  if (reference !== undefined) addReference(draft, dependent, reference)
  if (op === 'arrow') addArrow(draft, dependent, expression)
  if (op === 'all') addArrow(draft, { ...dependent, isCertain: false }, expression)
  if (op === 'self') draft.selves[dependent.permission.type.index]?.push(dependent)
  const isUnion = op === 'union'
  const followed = isUnion || draft.dependence === 'any' ? parts : parts.slice(0, 1)
  for (const part of followed) addExpression(draft, isUnion ? dependent : { ...dependent, isCertain: false }, part)
}

function addReference({ local, restsOn }: Draft, dependent: Dependent, { id }: Askable): void {
  local[id]?.push(dependent)
  restsOn[dependent.permission.id]?.add(id)
}

function addArrow(draft: Draft, dependent: Dependent, { tupleset, targets }: Expression): void {
  if (tupleset === undefined) return
  if (draft.dependence === 'any') addReference(draft, dependent, tupleset)
  for (const { type, relation } of tupleset.subjects) {
    const target = targets[type.index]
    if (target === undefined) continue
    addDependent(draft.arrows[target.id] ?? [], tupleset, dependent)
    draft.restsOn[dependent.permission.id]?.add(target.id)
    if (relation !== undefined) draft.followedSets[type.index]?.add(relation)
  }
}

function addDependent(table: (Dependent[] | undefined)[], { id }: RelationModel, dependent: Dependent): void {
  const known = table[id] ?? []
  if (!known.includes(dependent)) table[id] = [...known, dependent]
}

function closure(restsOn: readonly ReadonlySet<number>[], from: number): Uint8Array {
  const reached = new Uint8Array(restsOn.length)
  const open = [from]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached[next] === 1) continue
    reached[next] = 1
    open.push(...(restsOn[next] ?? []))
  }
  return reached
}
