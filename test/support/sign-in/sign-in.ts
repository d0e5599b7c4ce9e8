import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import pino from 'pino'
import { createMirroredGroups } from '../../../src/server/slices/groups/mirrored-groups.ts'
import { createUsers } from '../../../src/server/slices/identities/users.ts'
import { createInvitationBook, createInvitations } from '../../../src/server/slices/invitations/service.ts'
import { mounted, type MountedSurface } from '../../../src/server/http/request-context.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import type { IdpBinding, IdpBindings } from '../../../src/server/ports/idp-bindings.ts'
import type { IssuerMetadata, Issuers } from '../../../src/server/ports/issuers.ts'
import { OutgoingFetchError } from '../../../src/server/ports/outgoing-fetch.ts'
import type { CredentialResolver } from '../../../src/server/ports/credential-resolver.ts'
import { createSessionResolver } from '../../../src/server/slices/sessions/session-resolver.ts'
import { createSessions } from '../../../src/server/slices/sessions/sessions.ts'
import { createSignOutPage } from '../../../src/server/slices/sign-in/sign-out-page.ts'
import { createRelyingParty } from '../../../src/server/slices/sign-in/relying-party.ts'
import { createSignIn } from '../../../src/server/slices/sign-in/service.ts'
import { invitations } from '../../../src/shared/contract/invitations.ts'
import { signIn } from '../../../src/shared/contract/sign-in.ts'
import { problem } from '../../../src/shared/problems.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'
import { startTestIssuer, type TestIssuer } from './test-issuer.ts'

/** Where browsers know the server under test, whatever it listens at. */
export const BASE_URL = 'https://ctl.example'
export const CLIENT_ID = 'ctl-console'
/** Sign-ins that may be open at the same time. */
export const OPEN_MAX = 20

/** Issuers without a guard and without memory: what they say is what the test issuer says now. */
function testIssuers(issuer: TestIssuer): Issuers {
  const reach: typeof fetch = async (url, init) => {
    if (issuer.isDown) throw new OutgoingFetchError('unreachable', 'nothing answers there')
    const answer = await fetch(url, init)
    const forge = issuer.forgery.token
    if (!new Request(url).url.endsWith('/token') || forge === undefined || !answer.ok) return answer
    const body = (await answer.json()) as { id_token: string }
    return Response.json({ ...body, id_token: await forge(body.id_token) })
  }
  const asked = async (path: string): Promise<unknown> => {
    if (issuer.isDown) throw problem('idp_unavailable')
    return (await fetch(`${issuer.url}${path}`)).json()
  }
  return {
    async metadata() {
      const found = (await asked('/.well-known/openid-configuration')) as IssuerMetadata
      return { ...found, ...issuer.metadata }
    },
    key: async (_at, header) => createLocalJWKSet((await asked('/jwks')) as JSONWebKeySet)(header),
    fetchFor: () => reach,
    forget: () => undefined,
  }
}

const BINDING: Omit<IdpBinding, 'id' | 'domainId' | 'issuer'> = {
  alias: 'corp',
  label: 'Corporate',
  clientId: CLIENT_ID,
  isConfidential: false,
  apiAudience: null,
  algorithms: ['RS256', 'ES256'],
  claims: { subject: 'sub', email: 'email', name: 'name', groups: 'groups', domain: null },
  requiredAcr: [],
  requiredAmr: [],
  isPrimary: true,
  autoProvision: null,
  allowPrivateNetwork: true,
  isBundled: false,
  signsIn: true,
}

/** Bindings kept in memory, beside the rows that others refer to. */
interface TestBindings extends IdpBindings {
  add(
    db: Db,
    binding: Partial<IdpBinding> & Pick<IdpBinding, 'id' | 'domainId' | 'issuer'>,
    secret?: string,
  ): Promise<IdpBinding>
  change(id: string, members: Partial<IdpBinding>): void
  remove(id: string): void
}

function testBindings(): TestBindings {
  const known = new Map<string, { readonly binding: IdpBinding; readonly secret: string | undefined }>()
  return {
    async add(db, members, secret) {
      const binding = { ...BINDING, isConfidential: secret !== undefined, ...members }
      known.set(binding.id, { binding, secret })
      await db
        .insertInto('idp_bindings')
        .values({
          id: binding.id,
          domain_id: binding.domainId,
          alias: binding.id,
          label: binding.label,
          issuer: binding.issuer,
          client_id: binding.clientId,
          client_secret_sealed: null,
          api_audience: null,
          algorithms: '[]',
          claims: '{}',
          required_acr: '[]',
          required_amr: '[]',
          is_primary: false,
          is_active: true,
          auto_provision: 'null',
          allow_private_network: true,
          created_at: new Date(0),
          updated_at: new Date(0),
        })
        .execute()
      return binding
    },
    change(id, members) {
      const found = known.get(id)
      if (found === undefined) throw new Error('there is no such binding')
      known.set(id, { ...found, binding: { ...found.binding, ...members } })
    },
    remove: (id) => void known.delete(id),
    async choose(_db, { domain_id, idp_binding_id = '' }) {
      const found = known.get(idp_binding_id)?.binding
      if (found === undefined || domain_id === undefined) throw problem('idp_binding_not_found')
      return { domainId: domain_id, binding: found }
    },
    find: async (_db, id) => known.get(id)?.binding,
    ofIssuer: async (_db, { issuer, audiences }) =>
      [...known.values()]
        .map(({ binding }) => binding)
        .filter((one) => one.issuer === issuer && audiences.includes(one.apiAudience ?? '')),
    clientSecret: async (_db, id) => known.get(id)?.secret,
  }
}

/** A control plane that people sign in to, with one issuer. */
export interface SigningIn extends Tenancy {
  readonly issuer: TestIssuer
  readonly bindings: TestBindings
  /** Numbers of rows that a sign-in may leave behind. */
  counts(): Promise<Readonly<Record<'sign_ins' | 'principals' | 'sessions' | 'relation_tuples' | 'outbox', number>>>
}

export async function startSigningIn(store: TestStore, baseUrl = BASE_URL): Promise<SigningIn> {
  const issuer = await startTestIssuer()
  const bindings = testBindings()
  const tenancy = await startTenancy(store, (parts) => ({
    surfaces: [signInSurface(parts, { issuer, bindings, baseUrl }), mounted(invitations, createInvitations(parts))],
    resolvers: [sessionResolver(parts)],
    pages: [
      createSignOutPage({
        ...parts,
        bindings,
        issuers: testIssuers(issuer),
        sessions: createSessions(parts),
        log: pino({ level: 'silent' }),
      }),
    ],
  }))
  return {
    ...tenancy,
    issuer,
    bindings,
    counts: () => countRows(tenancy.datastore),
    async stop() {
      await tenancy.stop()
      await issuer.stop()
    },
  }
}

interface Around {
  readonly issuer: TestIssuer
  readonly bindings: TestBindings
  readonly baseUrl: string
}

function signInSurface(parts: Backend, { issuer, bindings, baseUrl }: Around): MountedSurface {
  const { PostAuthSignIn, GetAuthCallback } = signIn.operations
  const handlers = createSignIn({
    ...parts,
    bindings,
    relyingParty: createRelyingParty({ ...parts, baseUrl, bindings, issuers: testIssuers(issuer) }),
    users: createUsers(parts),
    sessions: createSessions(parts),
    invitations: createInvitationBook(),
    mirroredGroups: createMirroredGroups({ isHeld: () => Promise.resolve(false) }),
    openMax: OPEN_MAX,
  })
  return { name: signIn.name, operations: { PostAuthSignIn, GetAuthCallback }, handlers: { ...handlers } }
}

/** Uses of sessions are not written. */
function sessionResolver(parts: Backend): CredentialResolver {
  const lastUses = { note: () => undefined, flush: async () => undefined }
  return createSessionResolver({ ...parts, changeFeed: parts.feed, lastUses })
}

const COUNTED = ['sign_ins', 'principals', 'sessions', 'relation_tuples', 'outbox'] as const

async function countRows(datastore: Datastore): Promise<Record<(typeof COUNTED)[number], number>> {
  const counts = { sign_ins: 0, principals: 0, sessions: 0, relation_tuples: 0, outbox: 0 }
  for (const table of COUNTED) {
    const query = datastore.pool('interactive').selectFrom(table)
    const { count } = await query.select((row) => row.fn.countAll<string>().as('count')).executeTakeFirstOrThrow()
    counts[table] = Number(count)
  }
  return counts
}

/** A browser, as far as cookies and redirections go. */
export interface Browser {
  readonly cookies: Map<string, string>
  /** `Set-Cookie` fields of the last answer. */
  setCookies: readonly string[]
  /** Begins a sign-in; answers the JSON document. */
  begin(body: object): Promise<Started>
  /** Follows the authorization URL to the issuer and answers where it sends the browser. */
  authorize(started: Started): Promise<URL>
  /** Goes back to the server from there. */
  comeBack(callback: URL, accept?: string): Promise<Landing>
  /** All three. */
  signIn(body: object, accept?: string): Promise<Landing>
}

export interface Started {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, string>>
}

export type Landing = Started

const NAVIGATION = 'text/html,application/xhtml+xml,*/*;q=0.8'

export function openBrowser(url: string): Browser {
  const browser: Browser = {
    cookies: new Map(),
    setCookies: [],
    begin: (body) =>
      go('/v1/auth/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async authorize({ body }) {
      const answer = await fetch(body['authorization_url'] ?? '', { redirect: 'manual' })
      return new URL(answer.headers.get('location') ?? '')
    },
    comeBack: (callback, accept = 'application/json') =>
      go(`${callback.pathname}${callback.search}`, { headers: { accept, 'user-agent': 'A browser' } }),
    async signIn(body, accept) {
      const started = await browser.begin(body)
      if (started.status !== 200) return started
      return browser.comeBack(await browser.authorize(started), accept)
    },
  }

  async function go(path: string, init: RequestInit): Promise<Landing> {
    const headers = new Headers(init.headers)
    const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookies !== '') headers.set('cookie', cookies)
    const answer = await fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' })
    browser.setCookies = answer.headers.getSetCookie()
    for (const cookie of browser.setCookies) keep(browser.cookies, cookie)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) }
  }

  return browser
}

export { NAVIGATION }

function keep(cookies: Map<string, string>, field: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(field) ?? []
  if (/;\s*Max-Age=0(?:;|$)/i.test(field)) cookies.delete(name)
  else cookies.set(name, value)
}
