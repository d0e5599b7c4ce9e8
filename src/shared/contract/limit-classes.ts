import { accessOf, type CredentialKind, type Operation } from './operation.ts'

/** The limit that a call counts against, besides the failures of its address: one node, one join token, or one principal. */
export type LimitClass = 'node' | 'registration' | 'read' | 'write'

/**
 * The class of an operation for callers with that kind of credential (decisions: Rate limits). A node counts as itself
 * for every operation, a join token as well; all others by the kind of operation, where checks and lookups are reads.
 */
export function limitClassOf(operation: Pick<Operation, 'access' | 'method'>, kind: CredentialKind): LimitClass {
  if (kind === 'nsk') return 'node'
  return kind === 'join-token' ? 'registration' : accessOf(operation)
}
