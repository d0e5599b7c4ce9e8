import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { defineSurface, open, OPERATOR } from './operation.ts'
import { CreatedAt, InDomain, Instant, KiB, OwnId, Slug, uuidField } from './fields.ts'

/** How a request before the sign-in names its Domain or binding. */
export const whereToSignIn = {
  domain_id: uuidField('invalid_domain_id', 'Domain; the only one by default').optional(),
  domain: Slug.optional().describe('Slug of the Domain, instead of domain_id'),
  idp_binding_id: uuidField('invalid_idp_binding_id', 'Binding; the primary or only one by default').optional(),
  idp_binding_alias: Slug.optional().describe('Alias of the binding, instead of its id'),
}

/** Problem codes for the choice of a Domain and a binding. */
export const WHERE_PROBLEMS = [
  'invalid_domain_id',
  'invalid_idp_binding_id',
  'domain_required',
  'idp_binding_not_found',
  'alias-not-found',
  'multiple-bindings',
  'idp_unavailable',
] as const

/** `acr_values` as OpenID Connect Core §3.1.2.1 and RFC 9470 §4 name them. */
export const AcrValues = z
  .string()
  .regex(/^[!#-[\]-~]{1,256}(?: [!#-[\]-~]{1,256}){0,15}$/, {
    error: 'must be 1 to 16 values of printable ASCII without quotes and backslashes, separated by single blanks',
  })
  .describe('Values of acr separated by blanks; the sign-in must have one of them')

const SignInRequest = z
  .strictObject({
    ...whereToSignIn,
    return_to: z.string().max(2048).optional().describe('Path on this origin to return to; anything else is dropped'),
    acr_values: AcrValues.optional(),
    max_age: z
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .describe(
        'Seconds; the identity provider asks the person again where the authentication is older, and must state its time',
      ),
    max_age_seconds: z
      .int()
      .min(60)
      .max(86_400)
      .optional()
      .meta({
        deprecated: true,
        'x-service-deprecated-since': '2026-11-26T00:00:00Z',
        'x-service-successor': 'max_age',
      })
      .describe('Earlier name of max_age, for providers that do not state the time; not together with max_age'),
  })
  .refine(({ max_age: age, max_age_seconds: earlier }) => age === undefined || earlier === undefined, {
    error: 'max_age and max_age_seconds exclude each other',
  })
  .meta({ id: 'SignInRequest', description: 'With which identity provider, and how, a person signs in.' })

const SignInResponse = z
  .object({
    authorization_url: z.string().meta({ format: 'uri' }).describe('The address to which the browser must go next'),
    state: z.string().describe('Opaque handle of this sign-in'),
    expires_at: Instant.describe('When the sign-in has to be finished'),
  })
  .meta({ id: 'SignInResponse', description: 'Where the browser goes to sign in.' })

const SignInCompletion = z
  .object({
    subject: z.string().describe('The person who signed in, `user:<uuid>`'),
    domain_id: InDomain,
    return_to: z.string().describe('Path on this origin to which the browser goes'),
  })
  .meta({ id: 'SignInCompletion', description: 'The end of a sign-in.' })

const Session = z
  .object({
    id: OwnId,
    current: z.boolean().describe('Whether this call was made with it'),
    created_at: CreatedAt,
    last_seen_at: Instant.describe('When it was used last'),
    expires_at: Instant.describe('When it ends at the latest'),
    idle_expires_at: Instant.describe('When it ends unless it is used before'),
    auth_time: Instant.describe('When the person signed in'),
    acr: z
      .string()
      .nullable()
      .describe('Authentication context class of the sign-in; null where the provider states none'),
    amr: z.array(z.string()).describe('Authentication methods of the sign-in; empty where the provider states none'),
    source_address: z.string().describe('Address from which the person signed in'),
    user_agent: z.string().describe('Browser, as it names itself'),
  })
  .meta({ id: 'Session', description: 'A browser session of the caller.' })

const clearing = { 'Set-Cookie': 'Clears the session cookie' }

export const signIn = defineSurface(
  'auth',
  {
    summary: 'Signing in with a browser, and the sessions that come of it',
    nouns: { sessions: { section: 'Access', position: 8, files: runtime('Sign-ins of people') } },
  },
  {
    PostAuthSignIn: {
      method: 'POST',
      path: '/v1/auth/sign-in',
      summary: 'Begin a sign-in with an identity provider',
      description:
        'The answer names the address at the identity provider to which the browser has to go. Where the Domain has several bindings and none is named, the primary one is taken.',
      credentials: [],
      perAddress: true,
      body: SignInRequest,
      bodyBytesMax: 8 * KiB,
      gate: open('S0 Authentication 2'),
      audit: { relation: 'auth.sign_in.start', when: 'all' },
      responses: { 200: SignInResponse },
      headers: { 'Set-Cookie': 'Binds the sign-in to this browser' },
      noStore: true,
      problems: [...WHERE_PROBLEMS],
      notProvisioned: 'sign_in_not_provisioned',
    },
    GetAuthCallback: {
      method: 'GET',
      path: '/v1/auth/callback',
      summary: 'Finish a sign-in; the identity provider sends the browser here',
      description:
        'Checks the answer of the identity provider, begins a session and sets its cookie. Each `state` is accepted once.',
      credentials: [],
      perAddress: true,
      // RFC 6749 §4.1.2.1 and RFC 9207: refusals and the issuer come as further members; unknown ones are tolerated.
      query: z.object({
        code: z.string().min(1).max(4096).optional().describe('Authorization code; absent where the provider refused'),
        state: z.string().min(1).max(512).describe('Handle of the sign-in, as the authorization request carried it'),
        iss: z.string().max(2048).optional().describe('Issuer of the answer (RFC 9207)'),
        error: z.string().max(128).optional().describe('Why the provider refused (RFC 6749 §4.1.2.1)'),
        error_description: z.string().max(2048).optional().describe('The same for people'),
      }),
      gate: open('S0 Authentication 2'),
      audit: { relation: 'auth.sign_in.complete', when: 'all' },
      responses: { 303: null, 200: SignInCompletion },
      htmlFailure: '/',
      singleUse: true,
      headers: {
        Location: 'Where the browser goes: the `return_to` of the sign-in, else `/`',
        'Set-Cookie': 'The session cookie',
      },
      noStore: true,
      problems: [
        'invalid_sign_in',
        'sign_in_expired',
        'sign_in_refused',
        'insufficient_authentication',
        'not_invited',
        'user_disabled',
        'idp_unavailable',
      ],
      notProvisioned: 'sign_in_not_provisioned',
    },
    DeleteAuthSession: {
      method: 'DELETE',
      path: '/v1/auth/whoami',
      summary: 'Sign this browser out',
      description: 'Ends the session of the cookie and clears it. A call without a session succeeds, too.',
      credentials: [],
      gate: open('S0 Authentication 2: idempotent, always 204'),
      audit: { relation: 'auth.session.terminate', when: 'all' },
      responses: { 204: null },
      headers: clearing,
      problems: [],
    },
    PostAuthSignOutGlobal: {
      method: 'POST',
      path: '/v1/auth/sign-out/global',
      summary: 'End all of your sessions, in every browser',
      description: 'The session of this call ends, too. API tokens are not affected.',
      credentials: OPERATOR,
      gate: open("S0 Authentication surface: the caller's own"),
      audit: { relation: 'auth.session.terminate.global', when: 'all', object: '{caller.subject}' },
      responses: { 204: null },
      headers: clearing,
      problems: ['session_required'],
    },
    GetAuthSessions: {
      method: 'GET',
      path: '/v1/auth/sessions',
      summary: 'List your own browser sessions, newest first',
      description: 'At most 200.',
      credentials: OPERATOR,
      gate: open("decisions: the caller's own"),
      audit: { relation: 'auth.session.list', when: 'all', object: '{caller.subject}' },
      responses: { 200: z.array(Session).describe('The live browser sessions of the caller.') },
      problems: [],
      cli: {
        command: 'sessions list',
        columns: ['created_at', 'last_seen_at', 'source_address', 'user_agent', 'id'],
        wide: ['current', 'acr', 'amr', 'auth_time', 'expires_at', 'idle_expires_at'],
      },
    },
    DeleteAuthSessionByID: {
      method: 'DELETE',
      path: '/v1/auth/sessions/{id}',
      summary: 'End one of your own browser sessions',
      description: 'The browser that uses the session is signed out at its next call.',
      params: z.strictObject({ id: uuidField('invalid_session_id', 'Session') }),
      credentials: OPERATOR,
      gate: open("decisions: the caller's own"),
      audit: { relation: 'auth.session.revoke', when: 'all', object: '{caller.subject}' },
      responses: { 204: null },
      problems: ['session_not_found'],
      cli: {
        command: 'sessions revoke',
        args: ['id'],
        refs: { id: 'sessions' },
        confirm: 'yes',
        done: 'Session {id} has ended.',
      },
    },
  },
)
