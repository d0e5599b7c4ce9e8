import type { PlainProblemCode, ProblemCode } from '../problems.ts'
import { assertHoldable, type DualControl } from './held-calls.ts'
import type { CliWords } from './cli-words.ts'
import type { Nouns } from './noun-words.ts'
import type { PatchRule } from './patch.ts'

/** What the types need of a zod schema. Structural on purpose: constraining generics with `z.ZodType` triples the type checker's time. */
export interface AnySchema {
  readonly _zod: { readonly output: unknown; readonly input: unknown }
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The kinds of credentials. An operation names those it accepts; none means that it is open. */
export type CredentialKind = 'api-token' | 'oidc-jwt' | 'session' | 'nsk' | 'join-token' | 'client-assertion'

/** The credentials of people and workloads (S0 Authentication 1): every kind for which the server has a resolver. */
export const OPERATOR = ['api-token', 'oidc-jwt', 'session'] as const satisfies readonly CredentialKind[]

/** The credentials that may manage API tokens. Access tokens of identity providers may not: they are short-lived, and no token may outlive them (S0 Authentication surface). */
export const TOKEN_KEEPER = ['api-token', 'session'] as const satisfies readonly CredentialKind[]

/**
 * An object reference with holes: `project:{query.project_id}`, `domain:{path.id}`, `domain:{caller.domain_id}`,
 * `{row.resource}`. Where its holes are filled from decides when the gate can run: `path`, `query` and `caller` before
 * the body is read, `body` after it is parsed, `row` after the handler has read the stored row and called `admit`.
 */
export type ObjectTemplate = string

/** One relation on one object. */
export interface GateLeg {
  /** Its name, or a hole such as `{row.decide_relation}` where the stored row says which relation is asked. */
  readonly relation: string
  readonly object: ObjectTemplate
  /** Checked only where this member of the body has this value; skipped otherwise. Such a gate runs after the body. */
  readonly when?: { readonly member: string; readonly is: string }
  /** `granted_by` in the context of the audit row where this leg of `anyOf` admitted the caller. */
  readonly grantedBy?: string
}

/** Everything that an operation can declare about its callers. Data, so that docs and tests read the same declaration as the edge. */
export interface Gate {
  /** Why there is no check on one object; the clause that allows it. Excludes legs; `rows` may still filter a page. */
  readonly open?: string
  /** Tried in order; the first leg held admits. A leg with a hole that the request leaves empty is skipped. */
  readonly anyOf?: readonly GateLeg[]
  /**
   * Every leg must be held, and the refusal and its audit row name the first that is not. Each is checked as early as its
   * holes can be filled, those of one moment in order. Excludes `anyOf` and `denial`. A leg with a hole that the request
   * leaves empty is a bug, answered 500: it must not admit.
   */
  readonly allOf?: readonly GateLeg[]
  /** `body`: asked only after the body is parsed, although path, query and caller could decide it. */
  readonly after?: 'body'
  /**
   * A caller whose subject this is, such as `{row.requested_by}`, is admitted without a check, before any leg. Where `rows`
   * filters a page it says whose rows are shown instead, and the gate does without it. Excludes `allOf`. A gate that has
   * nothing else names in `denial` what the others lack.
   */
  readonly own?: ObjectTemplate
  /** What the refusal and its audit row name; by default the first leg that was tried. */
  readonly denial?: GateLeg
  /**
   * A denial is answered with this problem instead of PermissionDenied, and still audited as `permission_denied`. Of
   * `allOf` only the legs that are checked last are folded.
   */
  readonly fold?: PlainProblemCode
  /** Narrows `fold` to callers who hold this leg; the others get PermissionDenied. Excludes `foldUnless`. */
  readonly foldFor?: GateLeg
  /**
   * Narrows `fold` to callers who hold none of these legs; a caller that holds one gets PermissionDenied. For an object that a
   * caller may see but not change (decisions: Objects addressed by id alone). No leg may need more than the gate does.
   */
  readonly foldUnless?: readonly GateLeg[]
  /** The row is read before the gate, and this is the problem when it does not exist. Only for templates over `row`. */
  readonly missingRow?: PlainProblemCode
  /** Credential kinds that are admitted without any check. */
  readonly skipFor?: readonly CredentialKind[]
  /** A node's own credential must belong to the node that this path member names, else the problem. No relation is checked. */
  readonly ownNode?: { readonly param: string; readonly mismatch: PlainProblemCode }
  /** Checks that never refuse; the handler runs them by name and shows less after a denial. */
  readonly probes?: { readonly [name: string]: GateLeg }
  /** Each row of a page is shown only to callers holding this leg, or one of these; infrastructure failures drop the row and are counted. */
  readonly rows?: GateLeg | readonly GateLeg[]
  /** The name of a step-up policy that the caller must satisfy first, before any other check; skipped where no such policy is configured (S1 Authentication 3). */
  readonly stepUp?: string
}

/** The cache that answers during an outage: recent checks (S1 Degradation 2), or the last pulled states (3). */
export type StaleCache = 'checks' | 'state'

/** Declares a gate of one relation on one object. */
export function check(relation: string, object: ObjectTemplate): { readonly anyOf: readonly [GateLeg] } {
  return { anyOf: [{ relation, object }] }
}

/** The legs of a gate, whether one or all are required; none where it is open. */
export function legsOf({ anyOf, allOf }: Gate): readonly GateLeg[] {
  return anyOf ?? allOf ?? []
}

/** The legs of which one shows a row of a page; none where rows are not filtered. */
export function rowLegsOf({ rows }: Gate): readonly GateLeg[] {
  if (rows === undefined) return []
  return isOneLeg(rows) ? [rows] : rows
}

function isOneLeg(rows: GateLeg | readonly GateLeg[]): rows is GateLeg {
  return 'relation' in rows
}

/** Whose object the gate admits to; undefined where it admits nobody so, and where `own` belongs to the rows of a page. */
export function ownerOf({ own, rows }: Gate): ObjectTemplate | undefined {
  return rows === undefined ? own : undefined
}

/** Whether the gate refuses anybody: by its legs, or all but the owner. */
export function hasGate(gate: Gate): boolean {
  return legsOf(gate).length > 0 || ownerOf(gate) !== undefined
}

/** Declares that no relation is checked, and why. */
export function open(why: string): { readonly open: string } {
  return { open: why }
}

/** Which decisions of an operation leave an audit row, and under which relation. */
export type AuditRule =
  | {
      readonly relation: string
      readonly when: 'all' | 'denials'
      /** The object of the row; defaults to the gate's first leg, else the platform. */
      readonly object?: ObjectTemplate
      /** Relations of requests whose body has one of these values in that member, instead of `relation`. */
      readonly byBody?: { readonly member: string; readonly relations: { readonly [value: string]: string } }
      /** Outcomes of refusals with these codes, instead of `invariant_violation` (S1 Errors, Bridge). */
      readonly outcomes?: { readonly [Code in ProblemCode]?: 'identity_conflict' }
      /** A second relation for refusals by the path-id gate (S0 Endpoint intake). */
      readonly pathGate?: string
      /** Context member that counts rows left out by a fault; `authz_errors` by default. */
      readonly faults?: string
      /** Members that the context of every row has. */
      readonly context?: { readonly [member: string]: AuditMember }
    }
  | { readonly none: string }

/** A member of an audit row's context: a value that the handler sets, an enumerated member of the query, or a fixed word or number. */
export interface AuditMember {
  readonly query?: string
  readonly otherwise: string | number
}

/** How the pages of a list behave. A list that is asked for with a body reads `cursor` and `limit` from the body. */
export interface Paging {
  /** What a `limit` outside 1..200 does. */
  readonly limit: 'rejected' | 'clamped'
  /** `operation`: any caller may present the cursor; `caller`: another caller's is refused with `cursor_binding_mismatch`. */
  readonly cursor: 'operation' | 'caller'
  /** Members of the query, or of the body, that select the list, besides those that the path and the gate name: a cursor belongs to one list. */
  readonly parents?: readonly string[]
}

/** Where the page of a list is asked for. */
export function pageSourceOf({ body }: Pick<Operation, 'body'>): 'query' | 'body' {
  return body === undefined ? 'query' : 'body'
}

/** The bounds of `limit` that a caller must keep to; none where the server clamps it. */
export function limitBoundsOf({ limit }: Paging): { readonly minimum?: number; readonly maximum?: number } {
  return limit === 'rejected' ? { minimum: 1, maximum: 200 } : {}
}

/** An answer that is not JSON. */
export interface MediaResponse {
  readonly media: string
  readonly describe: string
  /** Of a stream of events: the JSON that the data of each event is. */
  readonly schema?: AnySchema
  /** It is a stream that one side ends: the handler returns its writer. */
  readonly streams?: true
}

/** The sink of a streamed answer. */
export interface StreamSink {
  /** Writes bytes; false once the stream has ended, or ends with this call because its reader is too far behind. */
  write(bytes: Uint8Array): boolean
  /** Written bytes that wait for the reader. */
  unsent(): number
  /** Resolves when the reader has read all written bytes, or the stream has ended. */
  drained(): Promise<void>
  /** Ends the answer cleanly. */
  end(): void
}

/** Why a stream ended: its reader disconnected or was too slow, the server stops, or the operation ended it. */
export type StreamEnd = 'reader' | 'slow' | 'drain' | 'operation'

/** A streamed answer. Its methods must not throw. */
export interface StreamAnswer {
  /** Called once, when the head of the answer has been sent; not at all if its reader has disconnected by then. */
  start(sink: StreamSink): void
  /** The last bytes of a stream that ends because the server stops. */
  farewell(): Uint8Array
  /** Called once when the stream has ended, for any reason. */
  ended(how: StreamEnd): void
}

/** RFC 9745 and RFC 8594 markers (S1 Versioning 6). Instants are RFC 3339. */
export interface Deprecation {
  readonly since: string
  readonly sunset?: string
  /** What to call instead; it may be an operation of a later major version. */
  readonly successor: `${HttpMethod} /v${number}/${string}`
}

/** A call and its answer, for readers of the document. They fit the schemas of the operation; a test holds them to that. */
export interface Examples {
  readonly body?: unknown
  /** By status. */
  readonly answers?: { readonly [status: number]: unknown }
}

/** One operation of the HTTP API, declared once. Everything else derives from it or implements it. */
export interface Operation {
  readonly method: HttpMethod
  /** Below its major version. */
  readonly path: `/v${number}/${string}`
  /** For a stranger: reaches help, OpenAPI and docs. */
  readonly summary: string
  readonly description?: string
  readonly credentials: readonly CredentialKind[]
  /** The 401 code when no credential resolves. Default `unauthenticated`. */
  readonly unauthenticated?: PlainProblemCode
  readonly params?: AnySchema
  readonly query?: AnySchema
  readonly body?: AnySchema
  /** How a PATCH reads its body; required with PATCH, and with no other method. */
  readonly patch?: PatchRule
  /** Cap in bytes, enforced before decoding; required with `body`. */
  readonly bodyBytesMax?: number
  /** The problem of an over-cap body. Default `request_body_too_large`. */
  readonly overCap?: PlainProblemCode
  /**
   * Whether the bytes of its body count into `observability_ingest` of the caller's Domain (S1 Capacity), and whether it is refused
   * beyond the Domain's target. Only operations of nodes: every node has a Domain.
   */
  readonly ingest?: 'counted' | 'refused'
  /** Accepted media types. Default: only JSON. */
  readonly bodyMedia?: readonly ('application/json' | 'application/x-www-form-urlencoded')[]
  readonly gate: Gate
  readonly audit: AuditRule
  readonly paging?: Paging
  /** Success answers by status: a schema, a media type, or null for an empty body. With several, the handler chooses. */
  readonly responses: { readonly [status: number]: AnySchema | MediaResponse | null }
  /**
   * How an approval policy may hold the call (decisions: Held operations). A held call is answered with 202, no body, and
   * the path of its approval in `Location`, which follow from this.
   */
  readonly dualControl?: DualControl
  readonly examples?: Examples
  /** Request headers that the handler reads, with their descriptions. */
  readonly requestHeaders?: { readonly [name: string]: string }
  /** The handler returns the JSON of its 200 as bytes; the schema describes it. */
  readonly rendered?: true
  /** The handler seals its answer under the secret that the caller presents as Bearer, and gets it during the request. */
  readonly sealsToSecret?: true
  /** Caches must not store any answer of it, including refusals. Implied where an answer shows a member once. */
  readonly noStore?: true
  /** Response headers beyond those that every answer has, with their descriptions. */
  readonly headers?: { readonly [name: string]: string }
  /** What this operation may answer with beyond the codes that its other members already imply. */
  readonly problems: readonly ProblemCode[]
  /** Problem details, by code, that replace those of the catalogue where a code means something else here. */
  readonly sentences?: { readonly [Code in ProblemCode]?: string }
  /** The 501 code while its collaborators are not configured. */
  readonly notProvisioned?: PlainProblemCode
  /** Whether repeating the call is harmless although the method is not GET, PUT or DELETE. */
  readonly idempotent?: true
  /** The cache that answers during an outage; a credential that was confirmed as recently is then accepted. */
  readonly bridgesOutages?: StaleCache
  /** Calls count against their address, for any caller: for operations that guesses and floods would use (decisions: Rate limits). */
  readonly perAddress?: true
  /** With a session, the token of the `service_csrf` cookie must be echoed in `X-CSRF-Token` (decisions: CSRF). */
  readonly doubleSubmit?: true
  /** Its problems carry the `error` member of RFC 6749 §5.2 too, and those of the request itself are 400. */
  readonly oauthErrors?: true
  /** The path to which a navigating browser is redirected after a failure, with `?problem=<code>`; programs get the problem itself. */
  readonly htmlFailure?: string
  /** Its GET uses up a single-use value, so that HEAD is refused. */
  readonly singleUse?: true
  /** What a token's scope must allow. Default: `read` for GET, else `write`. */
  readonly access?: 'read' | 'write'
  /** Any token may call it, whatever its scopes: it returns only facts about the caller itself. */
  readonly anyScope?: true
  readonly deprecated?: Deprecation
  readonly cli?: CliWords
}

export type Operations = { readonly [operationId: string]: Operation }

/** A group of operations with one scope name and one service. */
export interface Surface<Name extends string = string, Ops extends Operations = Operations> {
  readonly name: Name
  /** One line for the document and for help. */
  readonly summary: string
  readonly operations: Ops
  /** What the command line calls its objects. */
  readonly nouns?: Nouns
}

/** Whether an answer is of another media type than JSON. */
export function isMedia(shape: AnySchema | MediaResponse): shape is MediaResponse {
  return 'media' in shape
}

/**
 * Whether HEAD is answered: as GET is, without the body (RFC 9110 §9.3.2). Not where GET streams, fetches a secret or uses
 * something up: a HEAD would consume a value that nobody receives.
 */
export function answersHead(
  operation: Pick<Operation, 'method' | 'responses' | 'sealsToSecret' | 'singleUse'>,
): boolean {
  const { method, responses, sealsToSecret, singleUse } = operation
  const streams = Object.values(responses).some((shape) => shape !== null && isMedia(shape) && shape.streams === true)
  return method === 'GET' && !streams && sealsToSecret !== true && singleUse !== true
}

/** What a token's scope must allow: reading for GET, writing for the rest, unless the operation says otherwise. */
export function accessOf({ access, method }: Pick<Operation, 'access' | 'method'>): 'read' | 'write' {
  return access ?? (method === 'GET' ? 'read' : 'write')
}

/** Whether its gates, rows or answer may use a recent decision while the engine is unavailable: never those of a change. */
export function mayBeStale(operation: Pick<Operation, 'access' | 'method' | 'gate' | 'bridgesOutages'>): boolean {
  const { gate, bridgesOutages } = operation
  const isAsked = legsOf(gate).length > 0 || gate.rows !== undefined || bridgesOutages !== undefined
  return isAsked && accessOf(operation) === 'read'
}

/**
 * Declares a surface: its summary, or its summary with the nouns of the command line. Keep operation ids as the
 * specification spells them.
 *
 * @throws Error, which names the operation, for a PATCH that does not say how it reads its body, and for a
 *   read that is declared as held for approval.
 */
export function defineSurface<const Name extends string, const Ops extends Operations>(
  name: Name,
  about: string | { readonly summary: string; readonly nouns: Nouns },
  operations: Ops,
): Surface<Name, Ops> {
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    assertPatchRule(id, operation)
    assertHoldable(id, operation)
  }
  return { name, operations, ...(typeof about === 'string' ? { summary: about } : about) }
}

function assertPatchRule(id: string, { method, patch, body }: Operation): void {
  if (method !== 'PATCH' && patch !== undefined) throw new Error(`${id}: only a PATCH has a patch rule`)
  if (method === 'PATCH' && (patch === undefined || body === undefined))
    throw new Error(`${id}: a PATCH has a body, and is a nonEmptyPatch() or a fullReplacement()`)
}
