import type { PermissionChange } from '../../impact.ts'
import type { TypeModel } from '../../model.ts'
import { EVERYONE, type Holders, type HoldersByType, type NamedPermission } from './holders.ts'

/** What differs between two states, over the permissions that both answer. */
export interface Compared {
  readonly changes: readonly PermissionChange[]
  /** False where one of the states did not answer all. */
  readonly isComplete: boolean
}

const NOBODY: Holders = { named: new Map(), everyone: false }

/** Compares who holds the permissions before and after, place by place. */
export function changesOf(
  permissions: readonly NamedPermission[],
  before: readonly HoldersByType[],
  after: readonly HoldersByType[],
): Compared {
  const changes: PermissionChange[] = []
  let isComplete = true
  for (const [place, permission] of permissions.entries()) {
    const [held, holds] = [before[place], after[place]]
    if (held === undefined || holds === undefined) isComplete = false
    else changes.push(...differences(permission, held, holds))
  }
  return { changes, isComplete }
}

type Held = ReadonlyMap<TypeModel, Holders>

function differences(asked: NamedPermission, before: Held, after: Held): PermissionChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((type) =>
    changedIds(before.get(type) ?? NOBODY, after.get(type) ?? NOBODY).map(([id, change]) => ({
      subject: `${type.name}:${id}`,
      permission: asked.permission.name,
      resource: `${asked.resource.type.name}:${asked.resource.id}`,
      change,
    })),
  )
}

type Change = readonly [id: string, change: PermissionChange['change']]

/** Those whose answer changes: everyone by one entry, others only where theirs is another change. */
function changedIds(before: Holders, after: Holders): Change[] {
  const common = changeOf(before.everyone, after.everyone)
  const changes: Change[] = common === undefined ? [] : [[EVERYONE, common]]
  for (const id of new Set([...before.named.keys(), ...after.named.keys()])) {
    const change = changeOf(holds(before, id), holds(after, id))
    if (change !== undefined && change !== common) changes.push([id, change])
  }
  return changes
}

const holds = ({ named, everyone }: Holders, id: string): boolean => named.get(id) ?? everyone

function changeOf(before: boolean, after: boolean): PermissionChange['change'] | undefined {
  if (before === after) return undefined
  return after ? 'gains' : 'loses'
}
