import * as oidc from 'openid-client'
import { problem, Problem } from '../../../shared/problems.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { IdpBinding, IdpBindings } from '../../ports/idp-bindings.ts'
import type { IssuerMetadata, Issuers } from '../../ports/issuers.ts'
import type { Attempt, SignInSecrets } from './attempt.ts'
import { verifyIdToken } from './id-token.ts'
import { idpProblem } from './idp-failure.ts'
import { isWhole, joinedClaims, type Claims } from './person.ts'
import { acrValuesFor, CLOCK_TOLERANCE_SECONDS } from './authentication-strength.ts'

export interface RelyingPartyDeps {
  readonly datastore: Datastore
  readonly bindings: Pick<IdpBindings, 'clientSecret'>
  readonly issuers: Issuers
  /** Origin of this server as browsers see it, without a slash at its end. */
  readonly baseUrl: string
}

/** The query with which the identity provider sent the browser back. */
export interface CallbackAnswer {
  readonly state: string
  readonly code?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
}

/** A client of OpenID Connect issuers by the authorization code flow with PKCE. */
export interface RelyingParty {
  /** Where the browser goes to sign in. @throws Problem `idp_unavailable` */
  authorizationUrl(binding: IdpBinding, attempt: Attempt, nowMs: number): Promise<string>
  /** Redeems the answer of the provider for the claims about the person. @throws Problem `sign_in_refused`, `idp_unavailable` */
  redeem(binding: IdpBinding, answer: CallbackAnswer, at: SignInSecrets & { readonly nowMs: number }): Promise<Redeemed>
}

/** A provider's claims about a person, with their token. */
export interface Redeemed {
  readonly claims: Claims
  readonly idToken: string
}

export const CALLBACK_PATH = '/v1/auth/callback'

/** Per request to the issuer (decisions: Outgoing fetches). */
const DEADLINE_SECONDS = 5

export function createRelyingParty({ datastore, bindings, issuers, baseUrl }: RelyingPartyDeps): RelyingParty {
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`

  async function configure(binding: IdpBinding, nowMs: number): Promise<oidc.Configuration> {
    const metadata = await issuers.metadata(binding)
    if (metadata.authorization_endpoint === undefined || metadata.token_endpoint === undefined) throw signsNobodyIn()
    const secret = await bindings.clientSecret(datastore.pool('interactive'), binding.id)
    // The binding decides the algorithms, not the issuer (RFC 8725 §3.1).
    const server = {
      ...metadata,
      issuer: binding.issuer,
      id_token_signing_alg_values_supported: [...binding.algorithms],
    }
    const client = {
      [oidc.clockSkew]: Math.round((nowMs - Date.now()) / 1000),
      [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    }
    const config = new oidc.Configuration(server, binding.clientId, client, authenticationOf(metadata, secret))
    const guarded = issuers.fetchFor(binding)
    config[oidc.customFetch] = (url, init) => guarded(url, { ...init, body: init.body ?? null })
    config.timeout = DEADLINE_SECONDS
    if (binding.allowPrivateNetwork || binding.isBundled) oidc.allowInsecureRequests(config)
    return config
  }

  async function exchange(
    binding: IdpBinding,
    answer: CallbackAnswer,
    { nonce, codeVerifier, nowMs }: SignInSecrets & { readonly nowMs: number },
  ): Promise<Redeemed> {
    const config = await configure(binding, nowMs)
    const tokens = await oidc.authorizationCodeGrant(config, answerUrl(redirectUri, answer), {
      expectedState: answer.state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    })
    const idToken = tokens.id_token ?? ''
    const claims = await verifyIdToken(idToken, { binding, issuers, nowMs })
    if (isWhole(binding, claims) || !hasUserInfo(config)) return { claims, idToken }
    const userInfo = await oidc.fetchUserInfo(config, tokens.access_token, String(claims['sub']))
    return { claims: joinedClaims(binding, claims, userInfo), idToken }
  }

  return {
    authorizationUrl: (binding, { state, nonce, codeVerifier, ...demand }, nowMs) =>
      translated(outage, async () => {
        const config = await configure(binding, nowMs)
        const acrValues = acrValuesFor(binding, demand)
        const url = oidc.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: scopeOf(binding, config.serverMetadata().scopes_supported),
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
          ...(demand.maxAgeSeconds !== null && { max_age: String(demand.maxAgeSeconds) }),
        })
        return url.href
      }),
    redeem: (binding, answer, at) => translated(idpProblem, () => exchange(binding, answer, at)),
  }
}

async function translated<T>(translate: typeof idpProblem, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof Problem ? error : (translate(error) ?? error)
  }
}

/** An issuer of tokens for workloads, for instance (OpenID Connect Discovery 1.0 §3 requires both endpoints of a provider). */
function signsNobodyIn(): Problem {
  const sentence = 'discovery has no authorization_endpoint and token_endpoint: the issuer signs nobody in'
  return problem('idp_unavailable', {}, new Error(sentence))
}

/** Before the provider has answered, it cannot have refused. */
function outage(error: unknown): Problem | undefined {
  const found = idpProblem(error)
  return found && problem('idp_unavailable', {}, found.cause)
}

/**
 * The client secret is sent in the body where the issuer accepts it there, else in the header (OpenID Connect Core §9): not
 * every issuer decodes the encoding that RFC 6749 §2.3.1 requires in the header.
 */
function authenticationOf(metadata: IssuerMetadata, secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None()
  const methods = metadata['token_endpoint_auth_methods_supported']
  const takesBody = Array.isArray(methods) && methods.includes('client_secret_post')
  return takesBody ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret)
}

/** Many issuers send groups only where the scope of that name is requested; some refuse scopes that they do not know. */
function scopeOf({ claims }: IdpBinding, supported: readonly string[] | undefined): string {
  const wantsGroups = claims.groups !== null && supported?.includes('groups') === true
  return wantsGroups ? 'openid profile email groups' : 'openid profile email'
}

/** The callback as the provider answered it, with the members that count. */
function answerUrl(redirectUri: string, { state, code, iss, error }: CallbackAnswer): URL {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries({ state, code, iss, error })) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return url
}

function hasUserInfo(config: oidc.Configuration): boolean {
  return config.serverMetadata().userinfo_endpoint !== undefined
}
