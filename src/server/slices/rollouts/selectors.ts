import { problem } from '../../../shared/problems.ts'
import type { MemberError } from '../../../shared/problems/row.ts'
import type { Binding, BoundSelector } from '../../../shared/selectors/bind-selector.ts'
import type { Db } from '../../ports/datastore.ts'
import { bindSelectors, describeBound } from '../../policies/bound-selectors.ts'
import { evaluateNodes } from '../../policies/evaluate-nodes.ts'
import { readNodes } from '../../policies/nodes-store.ts'
import { readNamed } from './nodes-store.ts'
import type { Wave } from './tables.ts'
import type { SelectedNode } from './waves.ts'

/** The label by which nodes are in a wave. A Domain may have a label of its own with this key, which is nearer than the platform's. */
const GROUP_LABEL = 'update-group'

/** A selector in the scope of a Domain, with the groups that waves name. */
export interface Asked {
  readonly domainId: string
  readonly selector: string
  /** It was stored, and so it is canonical. */
  readonly isStored: boolean
  readonly waves: readonly Wave[]
}

/** Selector and groups as they are bound; their Definitions cannot be deleted until the transaction ends. */
export interface BoundPlan {
  /** Canonical. */
  readonly selector: string
  /** Of the selector. */
  readonly definitionIds: readonly string[]
  readonly selected: BoundSelector
  /** By the value of the label. */
  readonly groups: ReadonlyMap<string, BoundSelector>
}

const groupSelector = (value: string): string => `${GROUP_LABEL} = ${JSON.stringify(value)}`

/**
 * Binds the selector of a rollout and the groups of its waves.
 *
 * @throws Problem `invalid_selector`; `invalid_rollout` where the label of groups cannot have a value.
 */
export async function bindPlan(tx: Db, { domainId, selector, isStored, waves }: Asked): Promise<BoundPlan> {
  const values = waves.flatMap(({ update_group: group }) => group ?? [])
  const texts = [
    { text: selector, isStored },
    ...values.map((value) => ({ text: groupSelector(value), isStored: false })),
  ]
  const bindings = await bindSelectors(tx, domainId, texts)
  const { bound: selected, errors } = bindings.get(selector) ?? UNBOUND
  if (selected === undefined)
    throw problem('invalid_selector', { errors: errors.map((error) => ({ ...error, pointer: '/selector' })) })
  const groupErrors = waves.flatMap(({ update_group: group }, index) =>
    group === undefined ? [] : errorsOf(bindings.get(groupSelector(group)) ?? UNBOUND, index),
  )
  if (groupErrors.length > 0) throw problem('invalid_rollout', { errors: groupErrors })
  const { text, definitionIds } = describeBound(selected)
  const groups = values.flatMap((value) => {
    const { bound } = bindings.get(groupSelector(value)) ?? UNBOUND
    return bound === undefined ? [] : [[value, bound] as const]
  })
  return { selector: text, definitionIds: [...new Set(definitionIds)], selected, groups: new Map(groups) }
}

const UNBOUND: Binding = { bound: undefined, errors: [] }

function errorsOf({ bound, errors }: Binding, index: number): readonly MemberError[] {
  if (bound !== undefined) return []
  return errors.slice(0, 1).map(({ message }) => ({ pointer: `/waves/${index}/update_group`, detail: message }))
}

/** The nodes that a rollout selects now, and those of each group among them. */
export interface Selection {
  readonly nodes: readonly SelectedNode[]
  readonly groupOf: (value: string) => ReadonlySet<string>
}

export async function selectNodes(
  tx: Db,
  domainId: string,
  { selector, selected, groups }: BoundPlan,
): Promise<Selection> {
  const all = await readNodes(tx, { domainId })
  const groupTexts = Array.from(groups, ([value, bound]) => [groupSelector(value), bound] as const)
  const bound = new Map([[selector, selected], ...groupTexts])
  const select = await evaluateNodes(tx, domainId, { nodes: all, bound, isAll: true })
  return {
    nodes: await readNamed(tx, select(selector)),
    groupOf: (value) => new Set(select(groupSelector(value))),
  }
}
