import { z } from 'zod'

/** The grant type of RFC 6749 §4.4. */
export const CLIENT_CREDENTIALS_GRANT = 'client_credentials'
/** The grant type of RFC 8628 §3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
/** RFC 7523 §2.1 and §2.2. */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const JWT_BEARER_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Where authorization server metadata is (RFC 8414 §3). Outside `/v1`, as the RFC requires. */
export const OAUTH_METADATA_PATH = '/.well-known/oauth-authorization-server'

/** RFC 6749 §5.1. */
export const ServiceTokenResponse = z
  .object({
    access_token: z.string().meta({ 'x-service-write-once': true }).describe('The API token; shown only once'),
    token_type: z.literal('Bearer').describe('How the token is presented: `Authorization: Bearer <token>`'),
    expires_in: z.int().describe('Seconds until the token expires'),
    scope: z.string().describe('What the token may do, separated by blanks'),
  })
  .meta({ id: 'ServiceTokenResponse', description: 'An API token, as OAuth clients read it (RFC 6749 §5.1).' })

/** Audit relation of a poll of a device, at both endpoints that accept it. */
export const DEVICE_POLL_RELATION = 'auth.device_code.poll'

/** Problem codes of a refused poll of a device, at both endpoints that accept it. */
export const DEVICE_POLL_PROBLEMS = [
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'invalid_grant',
  'token_limit_exceeded',
] as const
