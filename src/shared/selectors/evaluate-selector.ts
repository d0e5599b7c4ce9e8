import type { BoundRequirement, BoundSelector, LabelValue } from './bind-selector.ts'

/**
 * Whether an object with these effective labels, by the id of their Definition, is selected. `!=`, `notin` and `!` also hold where the
 * label is missing; everything else needs it.
 */
export function matches({ requirements }: BoundSelector, labels: ReadonlyMap<string, LabelValue>): boolean {
  return requirements.every((requirement) => holds(requirement, labels.get(requirement.definition.id)))
}

function holds(requirement: BoundRequirement, label: LabelValue | undefined): boolean {
  if (label === undefined) return requirement.op === 'absent' || requirement.op === 'notin'
  if ('values' in requirement) return requirement.values.includes(label) === (requirement.op === 'in')
  if ('value' in requirement) return compares(requirement, label)
  return requirement.op === 'exists'
}

/** Only integers have an order. */
function compares({ op, value }: Extract<BoundRequirement, { readonly value: unknown }>, label: LabelValue): boolean {
  return typeof label === 'number' && (op === 'lt' ? label < value : label > value)
}
