import type { Operation, Surface } from './operation.ts'
import { accessOf } from './operation.ts'

/** Relations of rows that the service writes by itself, outside of any operation. */
export const SERVICE_RELATIONS = ['audit.gap', 'local_account.sign_in'] as const

/** The relations that rows of an operation may have; none where the contract wants no row. */
export function relationsOf({ audit }: Pick<Operation, 'audit'>): readonly string[] {
  if ('none' in audit) return []
  return audit.pathGate === undefined ? [audit.relation] : [audit.relation, audit.pathGate]
}

/** A relation of the audit log, and whether its operation changes something. */
export interface AuditRelation {
  readonly relation: string
  readonly isWrite: boolean
}

/** Every relation of a contract's rows, and those of the service. */
export function auditRelationsOf(contract: { readonly [key: string]: Surface }): readonly AuditRelation[] {
  const operations = Object.values(contract).flatMap((surface) => Object.values<Operation>(surface.operations))
  return [
    ...operations.flatMap((operation) =>
      relationsOf(operation).map((relation) => ({ relation, isWrite: accessOf(operation) === 'write' })),
    ),
    ...SERVICE_RELATIONS.map((relation) => ({ relation, isWrite: false })),
  ]
}
