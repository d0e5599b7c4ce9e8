import { APPROVALS_PROBLEMS } from './problems/approvals.ts'
import { ASSIGNMENTS_PROBLEMS } from './problems/assignments.ts'
import { AUDIT_PROBLEMS } from './problems/audit.ts'
import { AUTHZ_PROBLEMS } from './problems/authz.ts'
import { BRIDGES_PROBLEMS } from './problems/bridges.ts'
import { CAPACITY_PROBLEMS } from './problems/capacity.ts'
import { CATALOGUE_PROBLEMS } from './problems/catalogue.ts'
import { CREDENTIALS_PROBLEMS } from './problems/credentials.ts'
import { EDGE_PROBLEMS } from './problems/edge.ts'
import { EXECUTIONS_PROBLEMS } from './problems/executions.ts'
import { IDENTITY_PROBLEMS } from './problems/identity.ts'
import { INTEGRITY_PROBLEMS } from './problems/integrity.ts'
import { LABELS_PROBLEMS } from './problems/labels.ts'
import { MESH_PROBLEMS } from './problems/mesh.ts'
import { NODES_PROBLEMS } from './problems/nodes.ts'
import { POLICIES_PROBLEMS } from './problems/policies.ts'
import { RELEASES_PROBLEMS } from './problems/releases.ts'
import { REPORTS_PROBLEMS } from './problems/reports.ts'
import { SIGN_IN_PROBLEMS } from './problems/sign-in.ts'
import { TENANCY_PROBLEMS } from './problems/tenancy.ts'
import { WEBHOOKS_PROBLEMS } from './problems/webhooks.ts'
import type { MemberError, NoMembers, Row } from './problems/row.ts'

/** Every code that the API answers with. An operation lists those it raises; raising another fails conformance. */
export const PROBLEMS = {
  ...EDGE_PROBLEMS,
  ...AUTHZ_PROBLEMS,
  ...TENANCY_PROBLEMS,
  ...IDENTITY_PROBLEMS,
  ...SIGN_IN_PROBLEMS,
  ...NODES_PROBLEMS,
  ...REPORTS_PROBLEMS,
  ...MESH_PROBLEMS,
  ...EXECUTIONS_PROBLEMS,
  ...AUDIT_PROBLEMS,
  ...APPROVALS_PROBLEMS,
  ...CATALOGUE_PROBLEMS,
  ...CREDENTIALS_PROBLEMS,
  ...ASSIGNMENTS_PROBLEMS,
  ...LABELS_PROBLEMS,
  ...POLICIES_PROBLEMS,
  ...BRIDGES_PROBLEMS,
  ...RELEASES_PROBLEMS,
  ...INTEGRITY_PROBLEMS,
  ...CAPACITY_PROBLEMS,
  ...WEBHOOKS_PROBLEMS,
} as const satisfies { readonly [code: string]: Row }

export type ProblemCode = keyof typeof PROBLEMS

/** The members that a problem of each of the codes has beyond those of RFC 9457. */
export type ExtrasOf<Code extends ProblemCode> = Intersection<
  { [Each in Code]: (extras: Members<(typeof PROBLEMS)[Each]>) => void }[Code]
>

type Members<Of> = Of extends Row<infer Extras> ? Extras : never
type Intersection<Takers> = [Takers] extends [(extras: infer Extras) => void] ? Extras : never

/** The codes whose members can have the given type. */
type CodeThatTakes<Given> = {
  [Code in ProblemCode]: Given extends Members<(typeof PROBLEMS)[Code]> ? Code : never
}[ProblemCode]

/** Codes that need no further members. */
export type PlainProblemCode = CodeThatTakes<NoMembers>

/** Codes that may name the members at fault: every 400, and a few more. */
export type InvalidCode = CodeThatTakes<{ readonly errors: readonly MemberError[] }>

/** Codes that may say when a retry is useful: every 429 and 503. */
export type RetryableCode = CodeThatTakes<{ readonly retry_after_seconds: number }>

/** Members that some problems carry beyond the RFC 9457 ones, e.g. `counts` of `domain_not_empty`. */
export type ProblemExtras = { readonly [member: string]: unknown }

/** An expected failure. The server throws it, the edge writes it, the client throws it again. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly extras: ProblemExtras

  /** Takes any members, for copies of a problem. `problem` creates new ones and checks their members. */
  constructor(code: ProblemCode, extras: ProblemExtras, cause: unknown) {
    super(PROBLEMS[code].detail, cause === undefined ? undefined : { cause })
    this.name = 'Problem'
    this.code = code
    this.status = PROBLEMS[code].status
    this.extras = extras
  }
}

type ExtrasAndCause<Extras> = NoMembers extends Extras
  ? [extras?: Extras, cause?: unknown]
  : [extras: Extras, cause?: unknown]

/** Makes a problem from the catalogue, with the members of its code; `cause` is logged and never sent. */
export function problem<Code extends ProblemCode>(code: Code, ...rest: ExtrasAndCause<ExtrasOf<Code>>): Problem {
  // The two shapes of `rest` differ in what may be left out; the compiler cannot see that for a code it does not know yet.
  const [extras = {}, cause] = rest as [extras?: ProblemExtras, cause?: unknown]
  return new Problem(code, extras, cause)
}

/** The problem `type`: a relative URI whose last segment is the kebab form of the code (S1 Errors). */
export function problemType(code: ProblemCode): string {
  const { slug }: Row = PROBLEMS[code]
  return `/problems/${slug ?? code.replaceAll('_', '-')}`
}
