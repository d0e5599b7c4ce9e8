import { isStorableText } from '../../http/unsafe-text.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'

/** A JWT as it was presented: untrusted until its signature is verified. */
export interface PresentedJwt {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** The facts of an access token about its bearer. */
export interface TokenFacts {
  readonly subject: string
  /** What a platform-shared binding reads the Domain from. */
  readonly domain: string | undefined
  readonly expiresAtMs: number
  readonly acr: string | undefined
  readonly authTimeMs: number | undefined
  readonly jti: string | undefined
}

/** How far the clock of an issuer may be ahead. */
const AHEAD_SECONDS = 30

/** RFC 9068 §2.1, and the value that issuers without that type use. */
const TYPES = ['at+jwt', 'application/at+jwt', 'jwt']

/** Claims that only ID tokens have (OpenID Connect Core §2, §3.1.3.6, §3.3.2.11). */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash']

/** Values of the claim `typ` by which some issuers mark tokens that are no access tokens. */
const OTHER_KINDS = ['id', 'refresh', 'offline', 'logout']

interface Judged extends PresentedJwt {
  readonly binding: IdpBinding
  readonly nowSeconds: number
}

const strings = (value: unknown): readonly string[] => {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((one) => typeof one === 'string')
}

const lower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)

const isAmong = (value: unknown, list: readonly string[]): boolean => strings(value).some((one) => list.includes(one))

/** Whether the claim is absent, or a time that is not further ahead than clocks may be. */
const hasCome = (value: unknown, nowSeconds: number): boolean =>
  value === undefined || (typeof value === 'number' && value <= nowSeconds + AHEAD_SECONDS)

/** The audiences of a token. */
export const audiencesOf = ({ claims }: PresentedJwt): readonly string[] => strings(claims['aud'])

/** Each sentence is logged when its rule does not hold for a token. */
const RULES: readonly (readonly [sentence: string, holds: (judged: Judged) => boolean])[] = [
  [
    'the binding is shared by the platform and names no Domain claim',
    ({ binding }) => binding.domainId !== null || binding.claims.domain !== null,
  ],
  ['the audience of the API is the client itself', ({ binding }) => binding.apiAudience !== binding.clientId],
  ['its algorithm is none that the binding takes', ({ binding, header }) => takesAlgorithm(binding, header['alg'])],
  ['its typ is none of an access token', ({ header: { typ } }) => typ === undefined || isAmong(lower(typ), TYPES)],
  ['its kid is no text', ({ header: { kid } }) => kid === undefined || typeof kid === 'string'],
  ['it has critical extensions', ({ header }) => header['crit'] === undefined],
  [
    'it is an ID token: its audience is the client',
    ({ binding, ...jwt }) => !audiencesOf(jwt).includes(binding.clientId),
  ],
  ['it is an ID token: it has claims of one', ({ claims }) => !OF_ID_TOKENS.some((name) => name in claims)],
  ['it is a token of another kind', ({ claims: { typ } }) => !isAmong(lower(typ), OTHER_KINDS)],
  ['it was given to another client', ({ claims, binding }) => isGivenTo(claims, binding.clientId)],
  ['it has no exp', ({ claims: { exp } }) => typeof exp === 'number' && Number.isFinite(exp)],
  ['it has expired', ({ claims: { exp }, nowSeconds }) => typeof exp === 'number' && exp > nowSeconds],
  ['it is not valid yet', ({ claims: { nbf }, nowSeconds }) => hasCome(nbf, nowSeconds)],
  ['it was issued in the future', ({ claims: { iat }, nowSeconds }) => hasCome(iat, nowSeconds)],
  [
    'its acr is none that the binding requires',
    ({ claims: { acr }, binding: { requiredAcr } }) => requiredAcr.length === 0 || isOneOf(acr, requiredAcr),
  ],
  [
    'its amr lacks one that the binding requires',
    ({ claims: { amr }, binding: { requiredAmr } }) => requiredAmr.every((method) => strings(amr).includes(method)),
  ],
  ['its subject is no text', ({ claims, binding }) => isName(claims[binding.claims.subject])],
]

/** Both spellings of one algorithm (RFC 9864 §2.2). */
export function algorithmsOf({ algorithms }: IdpBinding): readonly string[] {
  return algorithms.includes('EdDSA') ? [...algorithms, 'Ed25519'] : algorithms
}

const takesAlgorithm = (binding: IdpBinding, alg: unknown): boolean => isOneOf(alg, algorithmsOf(binding))

const isOneOf = (value: unknown, list: readonly string[]): boolean => typeof value === 'string' && list.includes(value)

/** Who asked for the token, where it names one: `azp`, and RFC 9068's `client_id`. */
function isGivenTo(claims: PresentedJwt['claims'], clientId: string): boolean {
  return ['azp', 'client_id'].every((name) => claims[name] === undefined || claims[name] === clientId)
}

const NAME_MAX = 512

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= NAME_MAX

/** Checks everything of a token except its signature and owner. Returns the sentence of the first broken rule, or the facts. */
export function judge(jwt: PresentedJwt, binding: IdpBinding, nowMs: number): TokenFacts | string {
  const judged = { ...jwt, binding, nowSeconds: nowMs / 1000 }
  const broken = RULES.find(([, holds]) => !holds(judged))
  return broken === undefined ? factsOf(jwt, binding) : broken[0]
}

function factsOf({ claims }: PresentedJwt, { claims: names }: IdpBinding): TokenFacts {
  const { acr, auth_time: authTime, jti, exp } = claims
  const domain = names.domain === null ? undefined : claims[names.domain]
  return {
    subject: String(claims[names.subject]),
    domain: isName(domain) && isStorableText(domain) ? domain : undefined,
    expiresAtMs: Number(exp) * 1000,
    acr: isName(acr) ? acr : undefined,
    authTimeMs: typeof authTime === 'number' && Number.isFinite(authTime) ? authTime * 1000 : undefined,
    jti: isName(jti) ? jti : undefined,
  }
}
