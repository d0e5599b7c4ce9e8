import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { HELD } from '../../shared/contract/held-calls.ts'
import { problem } from '../../shared/problems.ts'
import type { Authorizer, CaveatFacts } from '../ports/authorizer.ts'
import type { Caller } from '../ports/credential-resolver.ts'
import { pageRange, type PagePosition, type PageRange } from '../ports/page-range.ts'
import type { HeldFor, UsedApproval } from '../ports/held-calls.ts'
import type { Span, TraceMarks } from '../ports/tracing.ts'
import type { CarriedAudit, Change, UnitOfWork } from '../ports/unit-of-work.ts'
import { RequestAudit, type AuditedRequest } from './audit/request-audit.ts'
import type { Asker } from './auth/authorize.ts'
import { pageSizeOf, type Cursors } from './cursors.ts'
import { browserFactsOf, type BrowserFacts } from './browser-facts.ts'
import { changeUnderPolicy, type HoldableRequest } from './held/change-under-policy.ts'
import { summaryOf } from './held/call-summary.ts'
import { sentCallOf } from './held/sent-call.ts'
import type { HoldingPorts } from './held/find-hold.ts'
import { setCookie, type Cookie } from './cookies.ts'
import * as declared from './declared.ts'
import { isGatedAt, type OperationPlan, type SuccessPlan } from './operation-plan.ts'
import { NO_MEMBERS, type Parameters } from './parameters.ts'
import type { Dependency, RequestContext, Row, Reauthorization } from './request-context.ts'
import {
  callerMembers,
  createReauthorization,
  credentialHeaders,
  type ReauthorizationServices,
} from './auth/reauthorization.ts'
import type { Stage, TemplateSources } from './template.ts'

/** What a request needs of the server. */
export interface RequestServices extends ReauthorizationServices {
  readonly cursors: Cursors
  readonly unitOfWork: UnitOfWork | undefined
  readonly authorizer: Authorizer | undefined
  readonly log: Logger
  /** Nothing is held for approval without. */
  readonly holding?: HoldingPorts | undefined
}

/** What is known before the operation runs. */
export interface Admission {
  readonly plan: OperationPlan
  readonly correlationId: string
  readonly sourceAddress: string
  readonly isSecure: boolean
  readonly nowMs: number
}

/** Of every operation that has no pages. */
const FIRST_PAGE = pageRange(undefined, 50)

/**
 * One request from its first hook to its answer, as its handler and the edge see it. A class, since a closure
 * for every method would cost more than the work.
 */
export class ActiveRequest implements RequestContext, Asker, AuditedRequest {
  readonly plan: OperationPlan
  readonly correlationId: string
  readonly sourceAddress: string
  readonly isSecure: boolean
  readonly nowMs: number
  path: Readonly<Record<string, unknown>> = NO_MEMBERS
  query: Readonly<Record<string, unknown>> = NO_MEMBERS
  body: Readonly<Record<string, unknown>> | undefined
  row: Row | undefined
  pageRange: PageRange = FIRST_PAGE
  facts: CaveatFacts
  /** Which success is answered. */
  success: SuccessPlan
  /** The audit row that it leaves. */
  readonly audit: RequestAudit
  /** Whether a gate that needs the row has been passed. */
  admitted = false
  /** Whether it has been answered. */
  concluded = false
  /** The approval under which its change is made. */
  approval: UsedApproval | undefined
  /** Bytes of its body that are set aside for it. */
  bodyBytes = 0
  /** What log records say of the trace that the request belongs to. */
  trace: TraceMarks | undefined
  /** Where requests are recorded. */
  span: Span | undefined
  /** On the monotonic clock, in ms. */
  readonly startedAt = performance.now()
  #caller: Caller | undefined
  /** What the handler found the call to fall under. */
  readonly #heldFor: HeldFor[] = []
  #staleSinceMs: number | undefined
  /** Without the datastore there is no other answer. */
  #away: Dependency = 'authorization'
  readonly #services: RequestServices
  readonly #reply: FastifyReply

  constructor(services: RequestServices, admission: Admission, reply: FastifyReply) {
    this.#services = services
    this.#reply = reply
    this.audit = new RequestAudit(this, services)
    this.plan = admission.plan
    this.correlationId = admission.correlationId
    this.success = admission.plan.success
    this.sourceAddress = admission.sourceAddress
    this.isSecure = admission.isSecure
    this.nowMs = admission.nowMs
    this.facts = { nowMs: admission.nowMs, sourceIp: admission.sourceAddress }
  }

  /** Absent only on open operations: those declare no credentials, and their handlers do not ask. */
  get caller(): Caller {
    if (this.#caller === undefined) throw new Error(`${this.plan.id} is open and has no caller`)
    return this.#caller
  }

  get knownCaller(): Caller | undefined {
    return this.#caller
  }

  /** The principal whose share of the server it uses: the caller's, or its address's where there is no caller. */
  get shareOwner(): string {
    return this.#caller?.subject ?? this.sourceAddress
  }

  identify(caller: Caller): void {
    this.#caller = caller
    if (caller.staleSinceMs !== undefined) this.degraded(caller.staleSinceMs)
    this.facts = { nowMs: this.nowMs, sourceIp: this.sourceAddress, ...strengthOf(caller) }
  }

  /** Stores the parsed members of path and query. */
  take({ path, query }: Parameters): void {
    this.path = path
    this.query = query
    if (this.plan.pageSource === 'query') this.#openPage(query)
  }

  /** Stores the parsed body. */
  takeBody(body: Readonly<Record<string, unknown>>): void {
    this.body = body
    if (this.plan.pageSource === 'body') this.#openPage(body)
  }

  /** Computes the requested page of a list. */
  #openPage(members: Readonly<Record<string, unknown>>): void {
    const paging = declared.pagingOf(this.plan)
    const size = pageSizeOf(members['limit'], paging)
    const { cursor } = members
    const isFirst = typeof cursor !== 'string'
    const position = isFirst ? undefined : this.#services.cursors.decode(cursor, this.#binding(paging))
    this.pageRange = pageRange(position, size)
  }

  /** The path for spans: the requested path once its members are known to be names and ids, else its template. */
  spannedPath(): string {
    const { url } = this.#reply.request
    return this.path === NO_MEMBERS ? this.plan.operation.path : (url.split('?', 1)[0] ?? url)
  }

  asker(): Asker {
    return this
  }

  grantedBy(name: string): void {
    this.note({ granted_by: name })
  }

  get mayBeStale(): boolean {
    return this.plan.mayBeStale
  }

  degraded(sinceMs: number, away: Dependency = 'authorization'): void {
    this.#staleSinceMs = Math.min(sinceMs, this.#staleSinceMs ?? sinceMs)
    this.audit.isStale = true
    if (away === 'datastore') this.#away = away
    const since = new Date(this.#staleSinceMs).toISOString()
    void this.#reply.header('X-Service-Degraded', `${this.#away}; since=${since}`)
  }

  /** Members that templates draw on: the caller's are flattened to the names that the contract uses. */
  sources(): TemplateSources {
    const caller = this.#caller
    return {
      path: this.path,
      query: this.query,
      caller: caller === undefined ? NO_MEMBERS : callerMembers(caller),
      body: this.body,
      row: this.row,
    }
  }

  /** Asks the legs of a stage, and meanwhile finds the chain of the audit row where that is not known yet. */
  passGate(stage: Stage): void | Promise<void> {
    if (!isGatedAt(this.plan, stage)) return undefined
    return this.audit.besideGate(
      this.#services.gatekeeper.passGate(this.plan, this.asker(), { stage, sources: this.sources() }),
    )
  }

  async admit(row: Row | undefined): Promise<void> {
    this.row = row
    if (row === undefined) throw problem(this.plan.operation.gate.missingRow ?? 'not_found')
    await this.passGate('row')
    this.admitted = true
  }

  async probe(name: string, row?: Row): Promise<boolean> {
    const leg = declared.probeOf(this.plan, name)
    return this.audit.withoutFaults(() => this.#services.gatekeeper.asks(leg, this.asker(), this.#with(row)))
  }

  async visible<T>(rows: readonly T[], row: (item: T) => Row): Promise<T[]> {
    const filter = declared.rowFilterOf(this.plan)
    const asker = this.asker()
    const shown: T[] = []
    for (const item of rows) {
      const asks = () => this.#services.gatekeeper.shows(filter, asker, this.#with(row(item)))
      const held = this.audit.withoutFaults(asks)
      if (held instanceof Promise ? await held : held) shown.push(item)
    }
    return shown
  }

  async require(relation: string, object: string): Promise<void> {
    await this.#services.gatekeeper.require(this.asker(), relation, object)
  }

  async holds(relation: string, object: string): Promise<boolean> {
    return this.#services.gatekeeper.holds(this.asker(), relation, object)
  }

  async change<T>(work: (change: Change) => Promise<T>): Promise<T> {
    const { unitOfWork } = this.#services
    if (unitOfWork === undefined) throw problem(this.plan.operation.notProvisioned ?? 'not_provisioned')
    if (this.audit.isCarried) throw new Error(`${this.plan.id} changes twice in one request`)
    if (this.plan.gateStage === 'row' && !this.admitted) throw new Error(`${this.plan.id} changes before its gate`)
    const run: HoldableRequest['run'] = async (made, audit = () => this.audit.grantedRows()) => {
      const options = { pool: 'interactive', correlationId: this.correlationId, trace: this.trace, audit } as const
      const result = await this.#spanned(() => unitOfWork.run(options, made))
      this.audit.isCarried = true
      return result
    }
    const { holding } = this.#services
    return holding === undefined ? run(work) : changeUnderPolicy(holding, this.#holdable(run), work)
  }

  heldAs(heldFor: HeldFor): void {
    const { dualControl } = this.plan.operation
    if (dualControl?.actions.includes(heldFor.action) !== true)
      throw new Error(`${this.plan.id} does not declare ${heldFor.action}`)
    this.#heldFor.push(heldFor)
  }

  /** Chooses the answer of a held call, which has no body. */
  waitFor(approvalId: string): void {
    this.status(HELD)
    const [, major = ''] = this.plan.operation.path.split('/')
    this.header('Location', `/${major}/approvals/${approvalId}`)
  }

  #spanned<T>(work: () => Promise<T>): Promise<T> {
    return this.span === undefined ? work() : this.span.child('transaction', work)
  }

  #holdable(run: HoldableRequest['run']): HoldableRequest {
    const { plan, nowMs, correlationId, path, query, body, sourceAddress } = this
    const { subject = 'anonymous', approvalId } = this.#caller ?? {}
    const { acr, authTimeMs } = this.facts
    return {
      plan,
      nowMs,
      correlationId,
      run,
      subject,
      found: this.#heldFor,
      approvalId: approvalId ?? declared.approvalOf(plan, this.#reply.request.headers),
      passed: () => declared.passedGateOf(plan, this.sources()),
      changed: () => (plan.operation.method === 'POST' ? undefined : this.audit.namedObject()),
      domainOf: async (object) => (await this.#services.authorizer?.domainOf(object)) ?? null,
      summary: (object) => summaryOf(plan.operation, { path, query, body, object }),
      sent: () => sentCallOf(this.#reply.request, { sourceAddress, acr, authTimeMs }),
      note: (context) => this.note(context),
      used: (approval) => {
        this.approval = approval
      },
    }
  }

  carryAudit(): CarriedAudit {
    return this.audit.carry()
  }

  note(context: Readonly<Record<string, unknown>>): void {
    this.audit.note(context)
  }

  about(object: string, domainId?: string | null): void {
    this.audit.about(object, domainId)
  }

  denied(reason: string): void {
    this.audit.denied(reason)
  }

  refusedFor(reason: string): void {
    this.audit.refusedFor(reason)
  }

  reauthorization(): Reauthorization {
    const { plan, correlationId, facts } = this
    return createReauthorization(this.#services, {
      plan,
      correlationId,
      facts,
      headers: credentialHeaders(this.#reply.request.headers),
      sources: { path: this.path, query: this.query, caller: NO_MEMBERS, body: undefined, row: undefined },
      subject: this.caller.subject,
    })
  }

  isAbandoned(): boolean {
    return this.#reply.request.raw.socket.destroyed
  }

  requestHeader(name: string): string | undefined {
    return declared.requestHeaderOf(this.plan, this.#reply.request.headers, name)
  }

  presentedSecret(): string {
    return declared.sealingSecretOf(this.plan, this.#reply.request.headers)
  }

  header(name: string, value: string): void {
    declared.assertSetsHeader(this.plan, name)
    void this.#reply.header(name, value)
  }

  cookie(cookie: Cookie): void {
    declared.assertSetsCookies(this.plan)
    const { versions } = this.plan
    for (const field of setCookie(cookie, { isSecure: this.isSecure, versions }))
      void this.#reply.header('Set-Cookie', field)
  }

  status(status: number): void {
    this.success = declared.successOf(this.plan, status)
  }

  get browser(): BrowserFacts {
    return browserFactsOf(this.#reply.request, this.isSecure)
  }

  page<T>(items: T[], next: PagePosition | undefined): { items: T[]; next_cursor: string | null } {
    const paging = declared.pagingOf(this.plan)
    this.note({ item_count: items.length })
    return {
      items,
      next_cursor: next === undefined ? null : this.#services.cursors.encode(next, this.#binding(paging)),
    }
  }

  #binding(paging: NonNullable<OperationPlan['operation']['paging']>) {
    const { id, parentOf, pageSource } = this.plan
    const members = pageSource === 'body' ? (this.body ?? NO_MEMBERS) : this.query
    return { operationId: id, paging, parent: parentOf(this.path, members), subject: this.#caller?.subject ?? '' }
  }

  #with(row: Row | undefined): TemplateSources {
    return row === undefined ? this.sources() : { ...this.sources(), row }
  }
}

/**
 * The sign-in that caveats see. That of an API token's approver is left out: caveats ask for no age, and the token lives for
 * days after it.
 */
function strengthOf({ credential, approvalId, acr, authTimeMs }: Caller): Pick<CaveatFacts, 'acr' | 'authTimeMs'> {
  if (credential.kind === 'api-token' && approvalId === undefined) return {}
  return { ...(acr !== undefined && { acr }), ...(authTimeMs !== undefined && { authTimeMs }) }
}
