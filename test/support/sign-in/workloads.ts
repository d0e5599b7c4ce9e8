import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'
import pino from 'pino'
import type { Rate } from '../../../src/server/ports/rates.ts'
import { createLastUses } from '../../../src/server/http/auth/last-uses.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createOwnedTokens } from '../../../src/server/slices/tokens/owned-tokens.ts'
import { createIdentities } from '../../../src/server/slices/identities/service.ts'
import { OutgoingFetchError, type OutgoingFetch } from '../../../src/server/ports/outgoing-fetch.ts'
import { createApiTokenResolver } from '../../../src/server/slices/tokens/api-token-resolver.ts'
import { createGrantedTokens } from '../../../src/server/slices/tokens/granted.ts'
import { writeUses } from '../../../src/server/slices/tokens/store.ts'
import { createMint } from '../../../src/server/slices/tokens/mint.ts'
import { createTokens } from '../../../src/server/slices/tokens/service.ts'
import { createWorkloadLimits } from '../../../src/server/slices/workloads/limits.ts'
import { createWorkloads } from '../../../src/server/slices/workloads/service.ts'
import { identities } from '../../../src/shared/contract/identities.ts'
import { JWT_BEARER_ASSERTION, JWT_BEARER_GRANT } from '../../../src/shared/contract/oauth-schemas.ts'
import { serviceToken } from '../../../src/shared/contract/service-token.ts'
import { tokens } from '../../../src/shared/contract/tokens.ts'
import type { Answer, UnderTest } from '../server/control-plane.ts'
import { START_MS } from '../server/test-backend.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'

export const BASE_URL = 'https://ctl.example'
export const TOKEN_URL = `${BASE_URL}/v1/auth/service/token`
export const NOW = START_MS / 1000

/** A key pair of a workload or a trust domain. */
export interface SigningKey {
  readonly kid: string
  readonly publicJwk: JWK & Record<string, unknown>
  readonly privateKey: CryptoKey
  /** Signs claims; header members are added to `alg` and `kid`, or take their place. */
  sign(claims: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>
}

export async function signingKey(kid: string, { alg = 'ES256', use = 'sig' } = {}): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return {
    kid,
    publicJwk: { ...(await exportJWK(publicKey)), kid, use },
    privateKey,
    sign: (claims, header = {}) => new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  }
}

/** Joins parts that nobody signed. */
export function unsigned(header: object, claims: object, signature = ''): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(claims)}.${signature}`
}

/** A sign-in of a service identity, as it is noted. */
interface SignInNote {
  readonly id: string
  readonly atMs: number
}

/** Workloads, their tokens and trust bundles behind the real edge. */
export interface Workloads extends Tenancy {
  /** Sentences that the server logged, newest last. */
  readonly causes: string[]
  /** Sign-ins of service identities that were noted, newest last. */
  readonly signIns: SignInNote[]
  /** What bundle endpoints serve, by URL; an `Error` is thrown. */
  readonly endpoints: Map<string, unknown>
  /** URLs that were asked, newest last. */
  readonly asked: string[]
  readonly outgoingFetch: OutgoingFetch
  /** Creates a service identity through the API. */
  identity(domainId: string, members: object): Promise<string>
  put(domainId: string, bundles: readonly object[]): Promise<Answer>
  clientCredentials(assertion: string, more?: object): Promise<Answer>
  jwtBearer(assertion: string, more?: object): Promise<Answer>
}

const UNLIMITED: Rate = { count: 0, seconds: 1 }

export async function startWorkloads(
  store: TestStore,
  rates: { serviceTokens?: Rate; failedCredentials?: Rate } = {},
): Promise<Workloads> {
  const causes: string[] = []
  const asked: string[] = []
  const signIns: SignInNote[] = []
  const endpoints = new Map<string, unknown>()
  const outgoingFetch: OutgoingFetch = async (url) => {
    asked.push(url)
    const served = endpoints.get(url)
    if (served instanceof Error) throw served
    if (served === undefined) throw new OutgoingFetchError('unreachable', `${url} cannot be reached`)
    return { status: 200, headers: {}, body: Buffer.from(typeof served === 'string' ? served : JSON.stringify(served)) }
  }
  const log = pino({ level: 'info' }, { write: (line: string) => void causes.push(causeIn(line)) })
  const limits = createWorkloadLimits({ serviceTokens: UNLIMITED, failedCredentials: UNLIMITED, ...rates })
  const surfacesOf = (parts: Backend): UnderTest => {
    const { datastore, keyring, clock, feed: changeFeed } = parts
    const mint = createMint({ ...parts, env: 'test' })
    const lastUses = createLastUses({
      write: (uses) => writeUses(datastore.pool('worker'), uses),
      onFailure: () => undefined,
    })
    const deps = {
      ...parts,
      limits,
      outgoingFetch,
      baseUrl: BASE_URL,
      signIns: { note: (id: string, atMs: number) => void signIns.push({ id, atMs }) },
      mintGranted: createGrantedTokens({ mint }),
      onRefreshFailure: (error: unknown) => void causes.push(String(error)),
      pollDevice: () => Promise.reject(new Error('there is no device flow here')),
    }
    return {
      surfaces: [
        mounted(serviceToken, createWorkloads(deps)),
        mounted(identities, createIdentities({ ...parts, ownedTokens: createOwnedTokens() })),
        mounted(tokens, createTokens({ datastore, mint })),
      ],
      resolvers: [createApiTokenResolver({ datastore, keyring, changeFeed, clock, lastUses })],
      log,
    }
  }
  const plane = await startTenancy(store, surfacesOf)
  const token = (body: object) => plane.call('nobody', 'POST /v1/auth/service/token', body)
  let made = 0
  return {
    ...plane,
    causes,
    signIns,
    endpoints,
    asked,
    outgoingFetch,
    async identity(domainId, members) {
      made += 1
      const body = { display_name: 'Workload', subject: `workload-${made}`, ...members }
      const answer = await plane.call(plane.root, `POST /v1/domains/${domainId}/service-identities`, body)
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return String(answer.body['id'])
    },
    put: (domainId, bundles) => plane.call(plane.root, `PUT /v1/domains/${domainId}/trust-bundles`, { bundles }),
    clientCredentials: (assertion, more = {}) =>
      token({
        grant_type: 'client_credentials',
        client_assertion_type: JWT_BEARER_ASSERTION,
        client_assertion: assertion,
        ...more,
      }),
    jwtBearer: (assertion, more = {}) => token({ grant_type: JWT_BEARER_GRANT, assertion, ...more }),
  }
}

function causeIn(line: string): string {
  const { cause, msg } = JSON.parse(line) as { readonly cause?: string; readonly msg: string }
  return cause ?? msg
}
