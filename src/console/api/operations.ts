import type { approvals } from '../../shared/contract/approvals.ts'
import type { audit } from '../../shared/contract/audit.ts'
import type { capacity } from '../../shared/contract/capacity.ts'
import type { domains } from '../../shared/contract/domains.ts'
import type { executions } from '../../shared/contract/executions.ts'
import type { groups } from '../../shared/contract/groups.ts'
import type { identities } from '../../shared/contract/identities.ts'
import type { integrity } from '../../shared/contract/integrity.ts'
import type { mediatedSessions } from '../../shared/contract/mediated-sessions.ts'
import type { mesh } from '../../shared/contract/mesh.ts'
import type { nodeState } from '../../shared/contract/node-state.ts'
import type { nodes } from '../../shared/contract/nodes.ts'
import type { Result, Sending } from '../../shared/contract/operation-types.ts'
import type { projects } from '../../shared/contract/projects.ts'
import type { signIn } from '../../shared/contract/sign-in.ts'
import type { tokens } from '../../shared/contract/tokens.ts'

type Declared = (typeof approvals)['operations'] &
  (typeof audit)['operations'] &
  (typeof capacity)['operations'] &
  (typeof domains)['operations'] &
  (typeof executions)['operations'] &
  (typeof groups)['operations'] &
  (typeof identities)['operations'] &
  (typeof integrity)['operations'] &
  (typeof mediatedSessions)['operations'] &
  (typeof mesh)['operations'] &
  (typeof nodes)['operations'] &
  (typeof nodeState)['operations'] &
  (typeof projects)['operations'] &
  (typeof signIn)['operations'] &
  (typeof tokens)['operations']

/**
 * The operations that the console calls, all that it can do: it reads, and it decides on approvals and violations. The two other POST
 * operations change nothing of a tenant: one compares epochs, the other begins a sign-in.
 */
export const OPERATIONS = {
  GetAuthWhoami: ['GET', '/v1/auth/whoami'],
  PostAuthSignIn: ['POST', '/v1/auth/sign-in'],
  ListDomains: ['GET', '/v1/domains'],
  ListProjects: ['GET', '/v1/domains/{id}/projects'],
  ListGroups: ['GET', '/v1/domains/{id}/groups'],
  ListIdentities: ['GET', '/v1/domains/{id}/identities'],
  ListNodes: ['GET', '/v1/nodes'],
  GetNode: ['GET', '/v1/nodes/{id}'],
  GetDomainReachabilityHistory: ['GET', '/v1/domains/{id}/reachability-history'],
  GetNodeState: ['GET', '/v1/nodes/{id}/state'],
  ListExecutions: ['GET', '/v1/nodes/{id}/executions'],
  ListMediatedSessions: ['GET', '/v1/projects/{project_id}/sessions'],
  GetDomainMeshTopology: ['GET', '/v1/domains/{domain_id}/mesh/topology'],
  VerifyDomainEdgeEpochs: ['POST', '/v1/domains/{domain_id}/mesh/edge-epochs/verify'],
  GetDomainCapacity: ['GET', '/v1/domains/{domain_id}/capacity'],
  GetDomainCapacityHistory: ['GET', '/v1/domains/{domain_id}/capacity/history'],
  ListApprovals: ['GET', '/v1/approvals'],
  GetApproval: ['GET', '/v1/approvals/{id}'],
  ApproveApproval: ['POST', '/v1/approvals/{id}/approve'],
  RejectApproval: ['POST', '/v1/approvals/{id}/reject'],
  ListDomainIntegrityViolations: ['GET', '/v1/domains/{domain_id}/integrity-violations'],
  GetDomainIntegrityViolation: ['GET', '/v1/domains/{domain_id}/integrity-violations/{id}'],
  AcknowledgeDomainIntegrityViolation: ['POST', '/v1/domains/{domain_id}/integrity-violations/{id}/acknowledge'],
  GetAudit: ['GET', '/v1/audit'],
} as const satisfies { readonly [Id in keyof Declared]?: readonly [Declared[Id]['method'], Declared[Id]['path']] }

export type OperationId = keyof typeof OPERATIONS

/** What a call of the operation sends: path and query members by name, and the body as `body`. */
export type Sent<Id extends OperationId> = Sending<Declared[Id]>

/** What the operation answers. */
export type Answered<Id extends OperationId> = Result<Declared[Id]>

/** A row of a list. */
type RowOf<Id extends OperationId> = Answered<Id> extends { readonly items: readonly (infer Row)[] } ? Row : never

export type Me = Answered<'GetAuthWhoami'>
export type Domain = RowOf<'ListDomains'>
export type NodeSummary = RowOf<'ListNodes'>
export type NodeDetail = Answered<'GetNode'>
/** An answer with a body: the console sends no entity tag, so it is never told that nothing has changed. */
export type NodeStateSnapshot = Exclude<Answered<'GetNodeState'>, void>
export type Topology = Answered<'GetDomainMeshTopology'>
export type Approval = RowOf<'ListApprovals'>
export type Violation = RowOf<'ListDomainIntegrityViolations'>
export type Capacity = Answered<'GetDomainCapacity'>
export type CapacityUse = Capacity['dimensions'][number]
export type CapacityHistory = Answered<'GetDomainCapacityHistory'>
/** With the names of subject and object as they are now; absent or null where the server knows none. */
export type AuditRow = RowOf<'GetAudit'> & {
  readonly subject_name?: string | null
  readonly object_name?: string | null
}
export type Execution = RowOf<'ListExecutions'>
export type MediatedSession = RowOf<'ListMediatedSessions'>
export type ReachabilityState = NodeSummary['reachability']
