import type { PermissionModel, TypeModel } from '../../model.ts'
import type { Checker } from '../checker.ts'
import type { ConditionVerdict } from '../question.ts'
import { UndecidableError } from '../undecidable.ts'
import { NONE } from '../edge-chains.ts'
import type { SubjectFinder } from '../lookup/subject-finder.ts'
import { verdictIn } from '../lookup/subject-set.ts'
import { NO_OBJECT } from '../object-table.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { YES } from '../verdict.ts'

/** An object by name, since edits give objects other numbers. */
export interface NamedObject {
  readonly type: TypeModel
  /** `*` for everyone of the type whom no tuple names. */
  readonly id: string
}

/** A permission on an object. */
export interface NamedPermission {
  readonly resource: NamedObject
  readonly permission: PermissionModel
}

/** Who has a permission: by id, and anyone who is not named by `everyone`. */
export interface Holders {
  readonly named: ReadonlyMap<string, boolean>
  readonly everyone: boolean
}

/** The holders of one permission, by type; undefined where they cannot be decided. */
export type HoldersByType = ReadonlyMap<TypeModel, Holders> | undefined

/** Asks an index, as it is at the moment, who holds permissions. */
export interface HolderQuestions {
  /** Of those asked about alone. */
  ofAskers(permissions: readonly NamedPermission[], askers: readonly NamedObject[]): HoldersByType[]
  /** Of everybody, until `subjectsMax` are named. There may be fewer answers than questions then. */
  ofAll(permissions: readonly NamedPermission[], subjectsMax: number): HoldersByType[]
}

export interface HolderDeps {
  readonly index: TupleIndex
  readonly checker: Checker
  readonly types: readonly TypeModel[]
  readonly finder: SubjectFinder
  readonly holds: ConditionVerdict
}

export const EVERYONE = '*'

export function createHolderQuestions({ index, checker, types, finder, holds }: HolderDeps): HolderQuestions {
  const rowOf = ({ type, id }: NamedObject): number => (id === EVERYONE ? NONE : index.objects.find(type.index, id, 0))

  function has(asker: NamedObject & Row, { resource, permission }: NamedPermission, resourceRow: number): boolean {
    const isItself = asker.type === resource.type && asker.id === resource.id
    const subject = asker.row === NONE && isItself ? NO_OBJECT : asker.row
    const object = resourceRow === NONE ? NO_OBJECT : resourceRow
    return (
      checker.check({ subjectType: asker.type, subject, asked: permission, resource: object }, holds, false) === YES
    )
  }

  function holdersOf(asked: NamedPermission, type: TypeModel): Holders {
    const { resource, permission } = asked
    const row = rowOf(resource)
    if (row !== NONE) return named(finder.find(row, permission, type))
    const isOfItself = type === resource.type && has({ ...resource, row }, asked, row)
    return { named: new Map(isOfItself ? [[resource.id, true]] : []), everyone: false }
  }

  function named(set: ReturnType<SubjectFinder['find']>): Holders {
    const rows = [...set.named.keys(), ...set.except.keys()]
    const verdicts = rows.map((row) => [index.objects.idOf(row), verdictIn(set, row) === YES] as const)
    return { named: new Map(verdicts), everyone: set.everyone === YES }
  }

  return {
    ofAskers(permissions, askers) {
      const rows = askers.map((asker) => ({ ...asker, row: rowOf(asker) }))
      return permissions.map((asked) => {
        const resourceRow = rowOf(asked.resource)
        return decided(() => byType(rows, (asker) => has(asker, asked, resourceRow)))
      })
    },
    ofAll(permissions, subjectsMax) {
      const found: HoldersByType[] = []
      let subjects = 0
      for (const asked of permissions) {
        if (subjects >= subjectsMax) break
        const able = types.filter((type) => finder.canHave(asked.permission, type))
        const holders = decided(() => new Map(able.map((type) => [type, holdersOf(asked, type)])))
        subjects += 1 + [...(holders?.values() ?? [])].reduce((sum, each) => sum + each.named.size, 0)
        found.push(holders)
      }
      return found
    },
  }
}

interface Row {
  readonly row: number
}

function byType<T extends NamedObject>(
  askers: readonly T[],
  has: (asker: T) => boolean,
): ReadonlyMap<TypeModel, Holders> {
  const found = new Map<TypeModel, { named: Map<string, boolean>; everyone: boolean }>()
  for (const asker of askers) {
    const holders = found.get(asker.type) ?? { named: new Map<string, boolean>(), everyone: false }
    found.set(asker.type, holders)
    if (asker.id === EVERYONE) holders.everyone = has(asker)
    else holders.named.set(asker.id, has(asker))
  }
  return found
}

function decided<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch (error) {
    if (error instanceof UndecidableError) return undefined
    throw error
  }
}
