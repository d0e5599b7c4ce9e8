import type { BoundRequirement, BoundSelector, LabelValue } from './bind-selector.ts'
import { sortedSet } from './byte-order.ts'

/**
 * The one text of a selector: qualified keys, different values and different requirements in the order of their UTF-8 bytes, `=` and
 * `!=` for one value, quotation marks only where a value needs them, `*` without requirements. Read and bound, it gives itself. It may
 * be longer than a selector may be when it is sent: `CANONICAL_BYTES_MAX`.
 */
export function canonicalSelector({ requirements }: BoundSelector): string {
  return requirements.length === 0 ? '*' : sortedSet(requirements.map(requirementText)).join(',')
}

/** The canonical text of one requirement. */
export function requirementText(requirement: BoundRequirement): string {
  const key = requirement.definition.qualifiedKey
  if ('values' in requirement) return listText(key, requirement)
  if ('value' in requirement) return `${key}${requirement.op === 'lt' ? '<' : '>'}${requirement.value}`
  return requirement.op === 'exists' ? key : `!${key}`
}

function listText(key: string, { op, values }: Extract<BoundRequirement, { readonly values: unknown }>): string {
  const texts = sortedSet(values.map(valueText))
  if (texts.length === 1) return `${key}${op === 'in' ? '=' : '!='}${texts[0]}`
  return `${key} ${op} (${texts.join(',')})`
}

const BARE = /^[A-Za-z0-9._:@+/-]+$/

/** A value as a selector writes it: bare where the grammar allows it, else as a JSON string. */
export function valueText(value: LabelValue): string {
  const text = String(value)
  return BARE.test(text) ? text : JSON.stringify(text)
}
