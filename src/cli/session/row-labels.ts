import { relative } from '../output/cells.ts'
import { idOf, memberOf, nameOf } from '../output/members.ts'
import { harmless } from '../output/style.ts'

/** Members that distinguish rows of nouns whose rows have no name, the last one an instant. */
const LABELS: Readonly<Record<string, { readonly members: readonly string[]; readonly at: string }>> = {
  violations: { members: ['node_name', 'kind', 'artifact'], at: 'last_detected_at' },
}

/** What a person distinguishes a row by, other than its id; with its age where the time is given. */
export function labelOf(noun: string, row: unknown, nowMs?: number): string | undefined {
  const label = LABELS[noun]
  if (label === undefined) return distinctName(row)
  const at = memberOf(row, label.at)
  const texts = [
    ...label.members.map((member) => memberOf(row, member)),
    ...(nowMs !== undefined && typeof at === 'string' ? [relative(at, nowMs)] : []),
  ]
  const known = texts.filter((text) => typeof text === 'string' && text !== '')
  // Nodes report the names of artifacts.
  return harmless(known.join(' ')) || undefined
}

/** A row without a name is called by its id. */
function distinctName(row: unknown): string | undefined {
  const name = nameOf(row)
  return name === idOf(row) ? undefined : name
}
