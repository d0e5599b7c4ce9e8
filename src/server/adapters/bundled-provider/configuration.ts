import type {
  Configuration,
  FindAccount,
  JWK,
  KoaContextWithOIDC,
  AdapterFactory,
  AccountClaims,
  interactionPolicy as InteractionPolicy,
} from 'oidc-provider'
import { markup } from '../../../shared/pages/markup.ts'
import { PROVIDER_SESSION_COOKIE, type LocalAccount, type LocalSignIn } from '../../ports/local-sign-in.ts'
import { ACR_VALUES, satisfies } from './assurance.ts'
import { notice, rendered, type Page } from './pages/page.ts'
import { CLIENT_ID, MOUNT_PATH, redirectUriOf } from './relying-party.ts'

export interface ConfigurationDeps {
  readonly baseUrl: string
  readonly adapter: AdapterFactory
  readonly jwks: readonly JWK[]
  readonly cookieKeys: string[]
  readonly signIn: LocalSignIn
  /** Types of the library, which is loaded late. */
  readonly policy: typeof InteractionPolicy
}

const SCOPES = ['openid', 'profile', 'email']

const CLAIMS: Readonly<Record<string, string[]>> = {
  openid: ['sub', 'acr', 'amr', 'auth_time', 'domain'],
  profile: ['name', 'preferred_username'],
  email: ['email', 'email_verified'],
}

/** In seconds. The relying party keeps sessions; the provider's own session lasts only for the redirect back. */
const TTL = {
  AccessToken: 120,
  AuthorizationCode: 60,
  Grant: 900,
  IdToken: 300,
  Interaction: 900,
  Session: 60,
}

/** The features of the provider: authorization code with PKCE for one client, and no other feature of the library. */
export function configurationOf(deps: ConfigurationDeps): Configuration {
  const { baseUrl, adapter, jwks, cookieKeys, signIn } = deps
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const
  return {
    adapter,
    jwks: { keys: [...jwks] },
    clients: [
      {
        client_id: CLIENT_ID,
        client_name: 'ctl',
        // The client is this process; the PKCE verifier authenticates it (RFC 7636).
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: [redirectUriOf(baseUrl)],
        post_logout_redirect_uris: [`${baseUrl}/`],
        id_token_signed_response_alg: 'ES256',
        require_auth_time: true,
      },
    ],
    clientAuthMethods: ['none'],
    clientBasedCORS: () => false,
    responseTypes: ['code'],
    scopes: SCOPES,
    claims: CLAIMS,
    acrValues: [...ACR_VALUES],
    // The claims are few and for one client: a second request for them would gain nothing.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: {
      keys: cookieKeys,
      names: { session: PROVIDER_SESSION_COOKIE, interaction: 'ctl_idp_interaction', resume: 'ctl_idp_resume' },
      long: { ...cookie, path: MOUNT_PATH },
      short: cookie,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      userinfo: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource, postLogoutSuccessSource },
    },
    ttl: TTL,
    findAccount: accountFinder(signIn),
    loadExistingGrant: grantToOurClient,
    interactions: {
      policy: policyOf(deps.policy),
      url: (_ctx, { uid }) => `${MOUNT_PATH}/interaction/${uid}`,
    },
    renderError(ctx, out) {
      const { error, error_description: description = '' } = out
      answerWith(ctx, notice('Signing in did not work', `${description || error} (${error})`))
    },
  }
}

/** A deleted or disabled account counts as missing, and so does one whose sign-ins were ended after this one. */
function accountFinder(signIn: LocalSignIn): FindAccount {
  return async (ctx, id) => {
    const account = await signIn.find(id)
    if (account === undefined || isSignedOut(ctx, account)) return undefined
    const claims = claimsOf(account)
    return { accountId: id, claims: async () => claims }
  }
}

/** Times of sign-ins are stored in whole seconds. */
function isSignedOut(ctx: KoaContextWithOIDC, { id, signedOutAtMs }: LocalAccount): boolean {
  const { session } = ctx.oidc
  if (signedOutAtMs === undefined || session?.accountId !== id || session.loginTs === undefined) return false
  return session.loginTs < Math.floor(signedOutAtMs / 1000)
}

function claimsOf({ id, login, displayName, email, domain }: LocalAccount): AccountClaims {
  // An administrator entered the address: there is no self-registration.
  const address = email === null ? {} : { email, email_verified: true }
  return { sub: id, name: displayName, preferred_username: login, domain, ...address }
}

/** Skips consent: the only client is the server that owns the account. */
async function grantToOurClient(ctx: KoaContextWithOIDC) {
  const { client, session, provider, account, result } = ctx.oidc
  if (client === undefined || session === undefined || account === undefined) return undefined
  const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId)
  const kept = known === undefined ? undefined : await provider.Grant.find(known)
  if (kept?.accountId === account.accountId) return kept
  const grant = new provider.Grant({ clientId: client.clientId, accountId: account.accountId })
  grant.addOIDCScope(SCOPES.join(' '))
  await grant.save()
  return grant
}

/** When a person must sign in although the browser has a session: besides `prompt` and `max_age`, in two more cases. */
function policyOf({ base, Check }: typeof InteractionPolicy): InteractionPolicy.DefaultPolicy {
  const policy = base()
  policy.remove('consent')
  const login = policy.get('login')
  if (login === undefined) throw new Error('the library knows no prompt to sign in')
  const stale = new Check('account_signed_out', 'the account has to sign in again', 'login_required', ({ oidc }) => {
    return oidc.session?.accountId !== undefined && oidc.account === undefined && oidc.result?.login === undefined
  })
  // RFC 9470: a sign-in that is too weak is repeated once; the result says how strong it is.
  const weak = new Check('acr_values', 'a stronger sign-in was asked for', 'login_required', ({ oidc }) => {
    const asked = oidc.params?.['acr_values']
    const wanted = typeof asked === 'string' ? asked.split(' ').filter(Boolean) : []
    return oidc.result?.login === undefined && !satisfies(oidc.session?.acr, wanted)
  })
  login.checks.add(stale)
  login.checks.add(weak)
  return policy
}

function answerWith(ctx: KoaContextWithOIDC, page: Page): void {
  const { headers, text } = rendered(page)
  ctx.set(headers)
  ctx.body = text
}

function logoutSource(ctx: KoaContextWithOIDC, form: string): void {
  const content = markup`<h1>Sign out?</h1>
<p>This ends your sign-in with the local account.</p>
${{ text: form }}
<div class="row">
<button type="submit" form="op.logoutForm" class="primary" value="yes" name="logout" autofocus>Sign out</button>
<button type="submit" form="op.logoutForm" class="quiet">Stay signed in</button>
</div>`
  answerWith(ctx, { title: 'Sign out', content })
}

function postLogoutSuccessSource(ctx: KoaContextWithOIDC): void {
  answerWith(ctx, notice('Signed out', 'You are signed out.'))
}
