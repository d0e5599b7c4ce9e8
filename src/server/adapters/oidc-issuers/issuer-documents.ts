import type { JSONWebKeySet } from 'jose'
import type { IssuerAddress, IssuerMetadata } from '../../ports/issuers.ts'

/** Maximum bytes of a discovery document and of a JWK Set: about ten times the usual size. */
export const DOCUMENT_BYTES_MAX = 128 * 1024
const KEYS_MAX = 100

/** The discovery address of an issuer (OpenID Connect Discovery 1.0 §4): a slash at its end is not doubled. */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

/**
 * Reads an answer as JSON.
 *
 * @throws Error in a sentence for administrators where it is not 200 or no JSON; nothing of the body is repeated.
 */
export function documentIn({ status, body }: { readonly status: number; readonly body: Buffer }, url: string): unknown {
  const { host, pathname } = new URL(url)
  if (status !== 200) throw new Error(`${host} answers ${status} to ${pathname}`)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new Error(`what ${host} answers to ${pathname} is not JSON`, { cause })
  }
}

/**
 * Reads a discovery document.
 *
 * @throws Error in a sentence for administrators where it is of another issuer (§4.3), has no keys, or has
 * an endpoint that is no URL. Issuers for workloads have no sign-in endpoints.
 */
export function metadataIn(body: unknown, at: IssuerAddress): IssuerMetadata {
  if (!isObject(body)) throw new Error('discovery is not a JSON object')
  const { issuer, authorization_endpoint: authorization, token_endpoint: token, ...others } = body
  if (issuer !== at.issuer) throw new Error('discovery names another issuer than the binding; they must be equal')
  return {
    ...others,
    issuer,
    ...(authorization !== undefined && { authorization_endpoint: endpointIn(body, 'authorization_endpoint', at) }),
    ...(token !== undefined && { token_endpoint: endpointIn(body, 'token_endpoint', at) }),
    jwks_uri: endpointIn(body, 'jwks_uri', at),
  }
}

function endpointIn(body: Readonly<Record<string, unknown>>, name: string, at: IssuerAddress): string {
  const value = body[name]
  if (typeof value !== 'string' || !URL.canParse(value)) throw new Error(`discovery has no ${name} that is a URL`)
  const { protocol } = new URL(value)
  const mayBePlain = at.allowPrivateNetwork || at.isBundled
  if (protocol !== 'https:' && !(mayBePlain && protocol === 'http:')) {
    throw new Error(`the ${name} of discovery is not an https: URL`)
  }
  return value
}

/**
 * Reads a JWK Set (RFC 7517 §5). Anything but a public signature key is left out, as the RFC requires for
 * members that are not understood.
 *
 * @throws Error in a sentence for administrators where it is no JWK Set, or has too many keys.
 */
export function keySetIn(body: unknown): JSONWebKeySet {
  const given = isObject(body) ? body['keys'] : undefined
  if (!Array.isArray(given)) throw new Error('the keys are not a JWK Set')
  if (given.length > KEYS_MAX) throw new Error(`the JWK Set holds more than ${KEYS_MAX} keys`)
  return { keys: given.filter(isPublicKey) }
}

function isPublicKey(key: unknown): key is JSONWebKeySet['keys'][number] {
  return isObject(key) && ['RSA', 'EC', 'OKP'].includes(String(key['kty'])) && key['d'] === undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
