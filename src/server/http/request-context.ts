import type { Operation, Operations } from '../../shared/contract/operation.ts'
import type { Answer, Input } from '../../shared/contract/operation-types.ts'
import type { Caller } from '../ports/credential-resolver.ts'
import type { CarriedAudit, Change } from '../ports/unit-of-work.ts'
import type { HeldFor, UsedApproval } from '../ports/held-calls.ts'
import type { CaveatFacts } from '../ports/authorizer.ts'
import type { PagePosition, PageRange } from '../ports/page-range.ts'
import type { BrowserFacts } from './browser-facts.ts'
import type { Cookie } from './cookies.ts'

/** What an answer may do without for a while, as `X-Service-Degraded` names it. */
export type Dependency = 'authorization' | 'datastore'

/** What fills a template's `{row.…}` holes. */
export type Row = Readonly<Record<string, string>>

/** Whether a caller may still do what it was admitted to. */
export interface Reauthorization {
  /**
   * Resolves the credential and asks the gate again, as the request did. Returns a promise only when it has to wait.
   *
   * @throws the problem with which the edge would refuse the request now.
   */
  confirm(): void | Promise<void>
}

/**
 * What a handler is given besides its input. The edge has authenticated the caller, checked scopes and every gate
 * that path, query and body can decide, and parsed the body; what is left to the handler is data and decision.
 */
export interface RequestContext {
  /** Absent only on open operations. */
  readonly caller: Caller
  readonly correlationId: string
  /** The client's address, behind trusted proxies. */
  readonly sourceAddress: string
  /** When the request was admitted, in ms. */
  readonly nowMs: number
  /** The facts about this caller that caveats may read. */
  readonly facts: CaveatFacts
  /** The requested page of a list: after the verified `cursor`, with the operation's limit rule; 50 rows by default. */
  readonly pageRange: PageRange

  /**
   * Runs the gate that the contract declares over `{row.…}`: on denial throws the refusal (PermissionDenied or the fold)
   * and the edge audits it. An operation whose gate needs a row and that answers without this call is a bug, answered 500.
   * `row` undefined raises the gate's `missingRow` problem.
   */
  admit(row: Row | undefined): Promise<void>
  /** Checks a declared probe; an infrastructure failure counts as a denial. `row` fills its holes. */
  probe(name: string, row?: Row): Promise<boolean>
  /** Keeps the rows that the caller may see by the contract's `rows` gate; `row` gives each one's holes. Counts faults in `authz_errors`. */
  visible<T>(rows: readonly T[], row: (item: T) => Row): Promise<T[]>
  /** Checks one more relation on one more object, for rules that the gate vocabulary cannot express; throws PermissionDenied. */
  require(relation: string, object: string): Promise<void>
  /** Checks without refusing. */
  holds(relation: string, object: string): Promise<boolean>

  /**
   * One transaction: the work, its outbox rows and this request's audit row (granted). Call at most once. Where an approval
   * policy holds the call, the work is undone and nothing after this method runs.
   */
  change<T>(work: (change: Change) => Promise<T>): Promise<T>

  /** The approval under which the change is made; undefined outside of `change`, and where the call needed none. */
  readonly approval: UsedApproval | undefined
  /**
   * Names an action that this call falls under, which the contract declares: where a policy names it, the change waits for
   * an approval. To be called before `change`.
   */
  heldAs(heldFor: HeldFor): void

  /** For a change in a transaction that several requests share: the audit row (granted) of this request, to be stored with it. */
  carryAudit(): CarriedAudit

  /** Members of the audit row's context: names, counts and flags, never values that callers sent. */
  note(context: Readonly<Record<string, unknown>>): void
  /** Overrides the audit row's object, where the handler knows a more exact object than the template (`token:<id>`). */
  about(object: string, domainId?: string | null): void
  /** Gives the audit row the outcome `permission_denied` with that reason, where a denial is the answer and no error (S0 RebacCheckResponse). */
  denied(reason: string): void
  /** Gives the audit row of a refusal that is no denial this reason, where its problem code is less specific (S0 Endpoint intake). */
  refusedFor(reason: string): void
  /**
   * Marks the answer as stale: it was decided from a cache, since a dependency (default: `authorization`) has been
   * unavailable from `sinceMs` on. A header informs the caller. Every such answer has an audit row with the reason
   * `stale_cache` (S1 Degradation 2 and 3).
   */
  degraded(sinceMs: number, away?: Dependency): void
  /** The periodic check of a stream that its caller is still authorized. Only where the gate needs neither body nor row. */
  reauthorization(): Reauthorization
  /** Whether the caller has closed its connection, so that work on the answer can end with `CallerGone`. */
  isAbandoned(): boolean
  /** A request header that the contract declares; undefined where it is absent. */
  requestHeader(name: string): string | undefined
  /**
   * The secret that the caller presents as Bearer, where the contract says that the answer is sealed under it. Read from
   * the request itself. The handler must not store it.
   */
  presentedSecret(): string
  /** Sets a response header that the contract declares. */
  header(name: string, value: string): void
  /** Sets a cookie; the contract declares `Set-Cookie`. Several add up. */
  cookie(cookie: Cookie): void
  /** Chooses among the success answers that the contract declares; the first one otherwise. */
  status(status: number): void
  /** Facts about the browser that may have sent the request. */
  readonly browser: BrowserFacts
  /** Builds the answer of `listPage`; `next` undefined ends the list. */
  page<T>(items: T[], next: PagePosition | undefined): { items: T[]; next_cursor: string | null }
}

/** One handler per operation of the surface; a missing one is a compile error. */
export type Handlers<S extends { readonly operations: Operations }> = {
  readonly [Id in keyof S['operations']]: (
    ctx: RequestContext,
    input: Input<S['operations'][Id]>,
  ) => Promise<Answer<S['operations'][Id]>> | Answer<S['operations'][Id]>
}

/** A handler with its types erased. */
export type AnyHandler = (ctx: RequestContext, input: never) => unknown

/** A surface with its handlers, ready to mount; `handlers` undefined answers 501 with each operation's `notProvisioned` code. */
export interface MountedSurface {
  readonly name: string
  readonly operations: Readonly<Record<string, Operation>>
  readonly handlers: Readonly<Record<string, AnyHandler>> | undefined
}

/** Pairs a surface with its handlers. */
export function mounted<S extends { readonly name: string; readonly operations: Operations }>(
  surface: S,
  handlers: Handlers<S> | undefined,
): MountedSurface {
  return { name: surface.name, operations: surface.operations, handlers }
}
