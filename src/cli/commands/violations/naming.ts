import type { NamedMembers } from '../authz/named-list.ts'

/** Members of violations that tables show by name. Nodes have theirs in the rows. */
export const VIOLATION_NAMES: NamedMembers = {
  members: ['acknowledged_by_subject'],
  shown: (names, reference) => (reference === 'null' ? '' : names.shown(reference)),
}
