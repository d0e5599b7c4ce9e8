import { createDevicePages } from '../../../src/server/slices/device-flow/pages.ts'
import { createDeviceFlow } from '../../../src/server/slices/device-flow/service.ts'
import type { StartSignIn } from '../../../src/server/slices/device-flow/start-sign-in.ts'
import { createWrongCodes } from '../../../src/server/slices/device-flow/wrong-codes.ts'
import type { Page } from '../../../src/server/http/pages/pages.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import type { IdpBinding } from '../../../src/server/ports/idp-bindings.ts'
import { createApiTokenResolver } from '../../../src/server/slices/tokens/api-token-resolver.ts'
import { createLastUses } from '../../../src/server/http/auth/last-uses.ts'
import { writeUses } from '../../../src/server/slices/tokens/store.ts'
import { createGrantedTokens } from '../../../src/server/slices/tokens/granted.ts'
import { createMint } from '../../../src/server/slices/tokens/mint.ts'
import { requireScopes } from '../../../src/server/slices/tokens/scopes.ts'
import { createTokens } from '../../../src/server/slices/tokens/service.ts'
import { deviceFlow } from '../../../src/shared/contract/device-flow.ts'
import { tokens } from '../../../src/shared/contract/tokens.ts'
import { problem } from '../../../src/shared/problems.ts'
import { browserSessions, type BrowserSessions, type OpenSession } from './browser-sessions.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'

/** An answer of an endpoint, with its header fields. */
export interface DeviceAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

/** What a device was given. */
export interface DeviceCodes {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly expires_in: number
  readonly interval: number
}

/** The device flow behind the real edge on a datastore, with one Domain that has one binding. */
export interface DevicePlane extends Tenancy {
  readonly browser: BrowserSessions
  /** A user of the Domain, signed in with a browser just now. */
  person(domainId?: string): Promise<{ readonly id: string; readonly session: OpenSession }>
  begin(body?: object): Promise<DeviceCodes>
  poll(deviceCode: string, more?: object): Promise<DeviceAnswer>
  decide(verdict: 'approve' | 'deny', userCode: string, session: OpenSession): Promise<DeviceAnswer>
  /** POSTs JSON, or a form where the body is `URLSearchParams`. */
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<DeviceAnswer>
}

const BASE_URL = 'https://mesh.example'

/** What a test of the pages brings. */
export interface DevicePlaneOptions {
  /** Where the edge listens, so that browsers may post forms; any free port when absent. */
  readonly port?: number
  readonly baseUrl?: string
  readonly startSignIn?: StartSignIn
  /** Beside those under test. */
  readonly pages?: (browser: BrowserSessions) => readonly Page[]
}

/** Starts it; the binding is a row, since device sign-ins refer to it. */
export async function startDevicePlane(store: TestStore, options: DevicePlaneOptions = {}): Promise<DevicePlane> {
  const { port, baseUrl = BASE_URL, startSignIn, pages = () => [] } = options
  let sessions: BrowserSessions | undefined
  let place: { readonly domainId: string; readonly binding: IdpBinding } | undefined
  const tenancy = await startTenancy(store, (parts) => {
    const browser = (sessions = browserSessions(parts))
    const bindings = {
      async choose() {
        if (place === undefined) throw problem('idp_binding_not_found')
        return place
      },
    }
    const wrongCodes = createWrongCodes()
    const mint = createMint({ ...parts, env: 'test' })
    const mintToken = createGrantedTokens({ mint })
    const flow = { ...parts, bindings, wrongCodes, mintToken, requireScopes, baseUrl }
    const lastUses = createLastUses({
      write: (uses) => writeUses(parts.datastore.pool('worker'), uses),
      onFailure: () => undefined,
    })
    return {
      surfaces: [
        mounted(deviceFlow, createDeviceFlow(flow)),
        mounted(tokens, createTokens({ datastore: parts.datastore, mint })),
      ],
      resolvers: [createApiTokenResolver({ ...parts, changeFeed: parts.feed, lastUses }), browser.resolver],
      csrfTokens: browser.sessions.csrfToken,
      pages: [...createDevicePages({ ...flow, sessions: browser.sessions, startSignIn }), ...pages(browser)],
      ...(port !== undefined && { port }),
    }
  })
  place = { domainId: tenancy.home, binding: await addBinding(tenancy, tenancy.home) }
  if (sessions === undefined) throw new Error('the sessions were not made')
  return { ...tenancy, ...words(tenancy, sessions) }
}

function words(tenancy: Tenancy, browser: BrowserSessions) {
  const post: DevicePlane['post'] = async (path, body, headers = {}) => {
    const isForm = body instanceof URLSearchParams
    const response = await fetch(`${tenancy.url}${path}`, {
      method: 'POST',
      headers: { ...(!isForm && { 'content-type': 'application/json' }), ...headers },
      body: isForm ? body : JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }
  return {
    browser,
    post,
    async person(domainId = tenancy.home) {
      const id = (await tenancy.principal(domainId)).replace('user:', '')
      return { id, session: await browser.open(id) }
    },
    async begin(body = {}) {
      const answer = await post('/v1/auth/device-code', body)
      if (answer.status !== 200) throw new Error(`no device code: ${JSON.stringify(answer.body)}`)
      // Its members are what the contract says, which conformance checks.
      return answer.body as unknown as DeviceCodes
    },
    poll: (deviceCode: string, more = {}) => post('/v1/auth/device-token', { device_code: deviceCode, ...more }),
    decide: (verdict: 'approve' | 'deny', userCode: string, session: OpenSession) =>
      post(`/v1/auth/device/${verdict}`, { user_code: userCode }, cookiesOf(session)),
  }
}

/** What a page of ours sends with a decision. */
export function cookiesOf({ cookie, csrfToken }: OpenSession): Readonly<Record<string, string>> {
  return { cookie: `service_session=${cookie}; service_csrf=${csrfToken}`, 'x-csrf-token': csrfToken }
}

/** Adds a binding of the Domain that is active and primary. */
export async function addBinding({ db, ids, clock }: Tenancy, domainId: string): Promise<IdpBinding> {
  const at = new Date(clock.nowMs)
  const claims = { subject: 'sub', email: 'email', name: 'name', groups: null, domain: null }
  const id = ids.next()
  const plain = {
    id,
    alias: `idp-${id.slice(-8)}`,
    label: 'Example',
    issuer: 'https://idp.example',
  }
  await db
    .insertInto('idp_bindings')
    .values({
      ...plain,
      domain_id: domainId,
      client_id: 'ctl',
      client_secret_sealed: null,
      api_audience: null,
      algorithms: '["RS256"]',
      claims: JSON.stringify(claims),
      required_acr: '[]',
      required_amr: '[]',
      is_primary: true,
      is_active: true,
      auto_provision: 'null',
      allow_private_network: false,
      created_at: at,
      updated_at: at,
    })
    .execute()
  return {
    ...plain,
    domainId,
    clientId: 'ctl',
    isConfidential: false,
    apiAudience: null,
    algorithms: ['RS256'],
    claims,
    requiredAcr: [],
    requiredAmr: [],
    isPrimary: true,
    autoProvision: null,
    allowPrivateNetwork: false,
    isBundled: false,
    signsIn: true,
  }
}
