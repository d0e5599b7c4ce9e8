import type { Operation, Surface } from './operation.ts'
import { accessOf } from './operation.ts'

/** The relations that rows of an operation may have; none where the operation is not audited. */
export function relationsOf({ audit }: Pick<Operation, 'audit'>): readonly string[] {
  if ('none' in audit) return []
  const byBody = Object.values(audit.byBody?.relations ?? {})
  return [audit.relation, ...(audit.pathGate === undefined ? [] : [audit.pathGate]), ...byBody]
}

/** A relation of the audit log, and whether its operation changes something. */
export interface AuditRelation {
  readonly relation: string
  readonly isWrite: boolean
}

/** Relations of rows that the service writes by itself, outside of any operation. */
export const SERVICE_RELATIONS = [
  { relation: 'approval.expire', isWrite: true },
  { relation: 'audit.gap', isWrite: false },
  { relation: 'capacity.nodes.threshold_crossed', isWrite: false },
  { relation: 'capacity.sse_fanout.threshold_crossed', isWrite: false },
  { relation: 'capacity.secret_reads.threshold_crossed', isWrite: false },
  { relation: 'capacity.mediated_sessions.threshold_crossed', isWrite: false },
  { relation: 'capacity.observability_ingest.threshold_crossed', isWrite: false },
  { relation: 'capacity.action_executions.threshold_crossed', isWrite: false },
  { relation: 'integrity_violation.drop', isWrite: true },
  { relation: 'integrity_violation.resolve', isWrite: true },
  { relation: 'local_account.sign_in', isWrite: false },
  { relation: 'local_account.password', isWrite: true },
  { relation: 'local_account.second_factor', isWrite: true },
  { relation: 'local_account.recovery_code', isWrite: true },
  { relation: 'local_account.recovery_codes', isWrite: true },
  { relation: 'plexd_artifact.deprecate', isWrite: true },
  { relation: 'plexd_artifact.import', isWrite: true },
  { relation: 'plexd_artifact.judge', isWrite: true },
  { relation: 'plexd_artifact.support', isWrite: true },
  { relation: 'plexd_artifact.withdraw', isWrite: true },
  { relation: 'rollout.complete', isWrite: true },
  { relation: 'rollout.halt', isWrite: true },
  { relation: 'webhook.disable', isWrite: true },
] as const satisfies readonly AuditRelation[]

/** A relation of a row that the service writes by itself. */
export type ServiceRelation = (typeof SERVICE_RELATIONS)[number]['relation']

/** Every relation of a contract's rows, and those of the service. */
export function auditRelationsOf(contract: { readonly [key: string]: Surface }): readonly AuditRelation[] {
  const operations = Object.values(contract).flatMap((surface) => Object.values<Operation>(surface.operations))
  return [
    ...operations.flatMap((operation) =>
      relationsOf(operation).map((relation) => ({ relation, isWrite: accessOf(operation) === 'write' })),
    ),
    ...SERVICE_RELATIONS,
  ]
}
