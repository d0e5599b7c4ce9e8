import { sql } from 'kysely'
import pino from 'pino'
import { createAuditSink } from '../../../src/server/adapters/postgres/audit-sink.ts'
import { storedSubjects } from '../../../src/server/adapters/stored-subjects/stored-subjects.ts'
import { createAudit } from '../../../src/server/slices/audit/service.ts'
import { createAuthz } from '../../../src/server/slices/authz/service.ts'
import { addDomain } from '../../../src/server/slices/domains/add-domain.ts'
import { newDomain } from '../../../src/server/slices/domains/domain.ts'
import { createApp } from '../../../src/server/http/app.ts'
import { createAuditQueue } from '../../../src/server/http/audit/audit-queue.ts'
import { createLastUses, type LastUses } from '../../../src/server/http/auth/last-uses.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { addServiceIdentity, newServiceIdentity } from '../../../src/server/slices/identities/add-service-identity.ts'
import { createOwnedTokens } from '../../../src/server/slices/tokens/owned-tokens.ts'
import { createIdentities } from '../../../src/server/slices/identities/service.ts'
import { createUsers } from '../../../src/server/slices/identities/users.ts'
import type { ChangeFeed } from '../../../src/server/ports/change-feed.ts'
import type { CredentialResolver } from '../../../src/server/ports/credential-resolver.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import type { Signer } from '../../../src/server/ports/signer.ts'
import type { SessionDraft, Sessions } from '../../../src/server/ports/sessions.ts'
import type { Change } from '../../../src/server/ports/unit-of-work.ts'
import type { Users } from '../../../src/server/ports/users.ts'
import { createSessionOperations } from '../../../src/server/slices/sessions/service.ts'
import { createSessionResolver } from '../../../src/server/slices/sessions/session-resolver.ts'
import { createSessions } from '../../../src/server/slices/sessions/sessions.ts'
import { writeUses as writeSessionUses } from '../../../src/server/slices/sessions/store.ts'
import { createAdminTokens } from '../../../src/server/slices/tokens/admin-service.ts'
import { createApiTokenResolver } from '../../../src/server/slices/tokens/api-token-resolver.ts'
import { issueToken } from '../../../src/server/slices/tokens/change-tokens.ts'
import { writeUses } from '../../../src/server/slices/tokens/store.ts'
import { createMint } from '../../../src/server/slices/tokens/mint.ts'
import { createTokens } from '../../../src/server/slices/tokens/service.ts'
import { lifetimeFrom } from '../../../src/server/slices/tokens/token.ts'
import { adminTokens } from '../../../src/shared/contract/admin-tokens.ts'
import { audit } from '../../../src/shared/contract/audit.ts'
import { authz } from '../../../src/shared/contract/authz.ts'
import { identities } from '../../../src/shared/contract/identities.ts'
import { signIn } from '../../../src/shared/contract/sign-in.ts'
import { tokens } from '../../../src/shared/contract/tokens.ts'
import { closeBackend } from '../../../src/server/composition/stop-server.ts'
import { emptyTables } from '../datastores/empty-tables.ts'
import type { OpenedStore } from '../datastores/stores.ts'
import { frozenClock, openTestBackend } from './test-backend.ts'

const SEEN = { sourceAddress: '203.0.113.7', userAgent: 'a browser' }

const notHere = (): never => {
  throw new Error('nobody signs in here')
}
const NO_SIGN_IN = { PostAuthSignIn: notHere, GetAuthCallback: notHere }

/** Members of the answers of these surfaces. Which of them an answer has is for the test to know. */
export interface Document {
  readonly id: string
  readonly at: string
  readonly subject: string
  readonly subject_name: string | null
  readonly object_name: string | null
  readonly domain_id: string | null
  readonly token: string
  readonly current: boolean
  readonly last_seen_at: string
  readonly expires_at: string
  readonly updated_at: string
  readonly revoked_at: string | null
  readonly external_subject: string
  readonly external_subject_pseudonym: string
  readonly code: string
  readonly reason: string
  readonly correlation_id: string
  readonly missing_relation: Readonly<Record<'object' | 'relation' | 'subject', string>>
  readonly decision: string
  readonly items: readonly Document[]
  readonly next_cursor: string | null
}

/** An answer as it came over the socket. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** One document, or a list of them; undefined when there was none. */
  readonly body: Document & readonly Document[]
}

/** A principal with a token of its own. */
export interface Person {
  readonly id: string
  /** `user:<uuid>` or `serviceaccount:<uuid>`. */
  readonly subject: string
  readonly domainId: string
  readonly tokenId: string
  readonly token: string
}

export interface AuditView {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly outcome: string
  readonly reason: string
  readonly context: Readonly<Record<string, unknown>>
}

/** A session of a browser. */
export interface Session {
  readonly id: string
  /** The header field that the browser sends. */
  readonly cookie: string
  /** The value alone. */
  readonly value: string
  readonly csrfToken: string
}

interface TokenWish {
  readonly scopes?: readonly string[]
  readonly seconds?: number
}

/** Principals, tokens, checks and the audit list behind the real edge, on an empty datastore, at a frozen time. */
export interface Access {
  readonly datastore: Datastore
  readonly db: Db
  readonly signer: Signer
  /** Set it to move the time. */
  readonly clock: { nowMs: number }
  readonly resolver: CredentialResolver
  readonly users: Users
  readonly lastUses: LastUses
  readonly sessions: Sessions
  readonly sessionResolver: CredentialResolver
  readonly sessionUses: LastUses
  /** Resolvers of another replica: its own feed and caches, the same datastore. */
  replica(): Promise<{
    readonly resolver: CredentialResolver
    readonly sessionResolver: CredentialResolver
    stop(): Promise<void>
  }>
  domain(slug: string): Promise<string>
  /** A service identity of the Domain, or a user, with a token of 90 days. */
  person(domainId: string, kind?: 'user' | 'service-identity'): Promise<Person>
  token(person: Person, wish?: TokenWish): Promise<{ readonly id: string; readonly token: string }>
  /** Writes a role tuple; a null Domain is the platform's. */
  grant(subject: string, relation: string, resource: string, domainId?: string | null): Promise<void>
  change<T>(work: (change: Change) => Promise<T>): Promise<T>
  /** Signs a user in. */
  session(person: Pick<Person, 'id' | 'domainId'>, wish?: Partial<SessionDraft>): Promise<Session>
  /** A text that begins as a session's cookie does goes as one. */
  call(token: string, operation: string, body?: unknown): Promise<Answer>
  /** The same with header fields of the test's own. */
  send(headers: Readonly<Record<string, string>>, operation: string, body?: unknown): Promise<Answer>
  /** Events of the request that got this answer, oldest first. */
  outbox(
    of: Answer,
  ): Promise<readonly { event: string; aggregate: string; domain_id: string | null; payload: unknown }[]>
  /** Audit rows of that request, once `count` of them are stored. */
  audited(of: Answer, count?: number): Promise<readonly AuditView[]>
  /** Fails when something went wrong behind the answers, unless that was meant. */
  stop(meant?: 'outage'): Promise<void>
}

export async function startAccess(store: OpenedStore): Promise<Access> {
  await emptyTables(store)
  const failures: string[] = []
  const fail = (message: string): void => void failures.push(message)
  const clock = frozenClock()
  const shared = { ...store, close: async () => undefined }
  const openReplica = () => openTestBackend(shared, { clock, log: pino({ level: 'warn' }, { write: fail }) })
  const backend = await openReplica()
  const { datastore, ids, keyring, sealing, signer, feed, authorizer, unitOfWork } = backend
  const lastUses = createLastUses({
    write: (uses) => writeUses(datastore.pool('worker'), uses),
    onFailure: () => fail('uses were not written'),
  })
  const resolver = createApiTokenResolver({ datastore, keyring, changeFeed: feed, clock, lastUses })
  const sessions = createSessions({ ids, clock, keyring, sealing })
  const sessionUses = createLastUses({
    write: (uses) => writeSessionUses(datastore.pool('worker'), uses),
    onFailure: () => fail('uses of sessions were not written'),
  })
  const resolveSessions = (changeFeed: ChangeFeed) =>
    createSessionResolver({ datastore, keyring, changeFeed, clock, lastUses: sessionUses })
  const sessionResolver = resolveSessions(feed)
  const mint = createMint({ ids, keyring, env: 'test' })
  const log = pino({ level: 'silent' })
  const counters = { written() {}, dropped: () => fail('dropped'), failed: () => fail('audit rows were refused') }
  const queue = createAuditQueue({ sink: createAuditSink(datastore), clock, ids, log, counters })
  const app = createApp({
    ...backend,
    surfaces: [
      mounted(tokens, createTokens({ datastore, mint })),
      mounted(
        adminTokens,
        createAdminTokens({ datastore, subjects: storedSubjects, mint, heldCalls: { mostAsked: async () => 0 } }),
      ),
      mounted(identities, createIdentities({ datastore, ids, keyring, sealing, ownedTokens: createOwnedTokens() })),
      mounted(authz, createAuthz({ authorizer })),
      mounted(audit, createAudit({ datastore, signer })),
      mounted(signIn, { ...NO_SIGN_IN, ...createSessionOperations({ datastore, sessions }) }),
    ],
    resolvers: [resolver, sessionResolver],
    csrfTokens: (id) => sessions.csrfToken(id),
    audit: queue,
    log,
    trustedProxies: [],
    allowedOrigins: ['https://console.example'],
  })
  await feed.start()
  const port = await app.listen({ host: '127.0.0.1', port: 0 })
  const db = datastore.pool('interactive')
  const change: Access['change'] = (work) => unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work)
  const now = () => new Date(clock.nowMs)

  async function issue(owner: { id: string; kind: 'user' | 'service-identity' }, wish: TokenWish = {}) {
    const { scopes = ['*'], seconds } = wish
    const order = { owner, name: 'arranged', scopes, lifetime: lifetimeFrom(clock.nowMs, seconds), createdAt: now() }
    const minted = await change((tx) => issueToken(tx, mint, order))
    if (minted === undefined) throw new Error('there is no such owner')
    return { id: minted.record.id, token: minted.token }
  }

  return {
    datastore,
    db,
    signer,
    clock,
    resolver,
    users: createUsers({ keyring, sealing }),
    lastUses,
    sessions,
    sessionResolver,
    sessionUses,
    change,
    async replica() {
      const other = await openReplica()
      const changeFeed = other.feed
      const otherResolver = createApiTokenResolver({ ...other, changeFeed, lastUses })
      const otherSessions = resolveSessions(changeFeed)
      await changeFeed.start()
      return { resolver: otherResolver, sessionResolver: otherSessions, stop: () => closeBackend(other) }
    },
    async domain(slug) {
      const domain = newDomain(ids.next(), { slug, display_name: slug }, now())
      await change((tx) => addDomain(tx, domain))
      return domain.id
    },
    async person(domainId, kind = 'service-identity') {
      const id = ids.next()
      const draft = { id, domainId, displayName: `P ${id}`, subject: `name-of-${id}`, createdAt: now() }
      const row = { ...(await newServiceIdentity(draft, { keyring, sealing })), kind }
      await change((tx) => addServiceIdentity(tx, row))
      const subject = `${kind === 'user' ? 'user' : 'serviceaccount'}:${id}`
      const { id: tokenId, token } = await issue({ id, kind })
      return { id, subject, domainId, tokenId, token }
    },
    token: ({ id, subject }, wish) =>
      issue({ id, kind: subject.startsWith('user:') ? 'user' : 'service-identity' }, wish),
    async grant(subject, relation, resource, domainId = null) {
      await change((tx) => tx.tuples.create({ subject, relation, resource }, { domainId, projectId: null }))
    },
    async session({ id: principalId, domainId }, wish = {}) {
      const draft = { principalId, domainId, bindingId: ids.next(), acr: undefined, amr: ['pwd'], ...SEEN, ...wish }
      const opened = await change((tx) => sessions.open(tx, { authTimeMs: clock.nowMs, nowMs: clock.nowMs, ...draft }))
      const csrfToken = sessions.csrfToken(opened.id)
      return { id: opened.id, cookie: `service_session=${opened.cookie}`, value: opened.cookie, csrfToken }
    },
    call: (token, operation, body) => send(port, { headers: fieldOf(token), operation, body }),
    send: (headers, operation, body) => send(port, { headers, operation, body }),
    outbox: (of) =>
      db
        .selectFrom('outbox')
        .select(['event', 'aggregate', 'domain_id', 'payload'])
        .where('correlation_id', '=', correlationOf(of))
        .orderBy('id')
        .execute(),
    audited: (of, count = 1) => auditRows(db, correlationOf(of), count),
    async stop(meant) {
      await app.drain(1000)
      await queue.close()
      await Promise.all([lastUses.flush(), sessionUses.flush()])
      await closeBackend(backend)
      if (failures.length > 0 && meant !== 'outage') throw new Error(failures.join('; '))
    },
  }
}

const correlationOf = ({ headers }: Answer) => headers.get('x-correlation-id') ?? ''

const AUDIT_DEADLINE_MS = 20_000

/** Granted reads reach the datastore a moment after the answer. */
async function auditRows(db: Db, correlationId: string, count: number): Promise<readonly AuditView[]> {
  const deadline = performance.now() + AUDIT_DEADLINE_MS
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .select(['subject', 'relation', 'object', 'outcome', 'reason', 'context'])
      .where('correlation_id', '=', correlationId)
      .orderBy('id')
      .execute()
    if (rows.length >= count) return rows
    if (performance.now() > deadline) throw new Error(`${rows.length} audit rows of ${count}`)
    await sql`select 1`.execute(db)
  }
}

interface Sending {
  readonly headers: Readonly<Record<string, string>>
  readonly operation: string
  readonly body: unknown
}

function fieldOf(credential: string): Readonly<Record<string, string>> {
  return credential.startsWith('service_session=') ? { cookie: credential } : { authorization: `Bearer ${credential}` }
}

async function send(port: number, { headers, operation, body }: Sending): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ')
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}
