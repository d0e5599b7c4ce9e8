import type { Result } from '../../../../shared/contract/operation-types.ts'
import type { policies } from '../../../../shared/contract/policies.ts'
import { counted } from '../../../output/counts.ts'
import { harmless } from '../../../output/style.ts'

/** Groups of nodes, and which of them may send what to which. */
export type Graph = Result<(typeof policies)['operations']['GetPolicyGraph']>
export type Group = Graph['groups'][number]

/** `db-in + ssh`. */
export function policiesOf({ policies: slugs }: Group): string {
  return slugs.length === 0 ? 'no policy' : slugs.join(' + ')
}

/** `db-in (2 nodes: db-1, db-2)`. */
export function nameOf(group: Group): string {
  const { node_count: count, sample } = group
  const names = sample.map(({ name }) => name)
  const more = count > names.length ? ', …' : ''
  return harmless(`${policiesOf(group)} (${counted(count, 'node')}: ${names.join(', ')}${more})`)
}

/** `db-in (db-1, …)`: groups with the same policies may still be two. */
export function shortNameOf(group: Group): string {
  const { node_count: count, sample } = group
  const [first] = sample
  if (first === undefined) return policiesOf(group)
  return `${policiesOf(group)} (${first.name}${count > 1 ? ', …' : ''})`
}
