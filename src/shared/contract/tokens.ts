import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { defineSurface, open, OPERATOR, TOKEN_KEEPER } from './operation.ts'
import { KiB, uuidField } from './fields.ts'
import {
  APITokenIssueRequest,
  APITokenIssueResponse,
  APITokenRotateRequest,
  APITokenRotateResponse,
  APITokenSummary,
  Whoami,
} from './token-schemas.ts'

const params = z.strictObject({ id: uuidField('invalid_token_id', 'Token') })
const columns = ['name', 'prefix', 'scopes', 'expires_at', 'last_used_at', 'revoked_at', 'id']
const common = {
  credentials: TOKEN_KEEPER,
  gate: open("S0 Authentication surface: the caller's own"),
  notProvisioned: 'tokens_not_provisioned',
} as const

export const tokens = defineSurface(
  'tokens',
  {
    summary: 'Your own API tokens',
    nouns: { tokens: { section: 'Access', position: 7, types: ['token'], files: runtime('Secrets that expire') } },
  },
  {
    PostAuthTokens: {
      ...common,
      method: 'POST',
      path: '/v1/auth/tokens',
      summary: 'Issue an API token for yourself',
      description:
        'It may carry only scopes that the presented credential has, and does not outlive a token that issues it.',
      body: APITokenIssueRequest,
      bodyBytesMax: 8 * KiB,
      audit: { relation: 'auth.api_token.issue', when: 'all', object: '{caller.subject}' },
      responses: { 201: APITokenIssueResponse },
      headers: { Location: 'Path of the new token' },
      problems: ['invalid_scope', 'scope_exceeds_caller', 'token_limit_exceeded', 'authz_unavailable'],
      cli: { command: 'tokens issue', args: ['name'], columns },
    },
    GetAuthTokens: {
      ...common,
      method: 'GET',
      path: '/v1/auth/tokens',
      summary: 'List your API tokens, newest first',
      description: 'At most 200; revoked and expired ones are removed after 90 days.',
      audit: { relation: 'auth.api_token.list', when: 'all', object: '{caller.subject}' },
      responses: { 200: z.array(APITokenSummary).describe('The API tokens of the caller.') },
      problems: [],
      cli: { command: 'tokens list', columns },
    },
    DeleteAuthTokenByID: {
      ...common,
      method: 'DELETE',
      path: '/v1/auth/tokens/{id}',
      summary: 'Revoke one of your API tokens at once',
      description: 'Calls with the token are refused from now on. A token that was revoked before stays revoked.',
      params,
      audit: { relation: 'auth.api_token.revoke', when: 'all', object: 'token:{path.id}' },
      responses: { 204: null },
      problems: ['token_not_found'],
      cli: { command: 'tokens revoke', args: ['id'], refs: { id: 'tokens' }, confirm: 'yes' },
    },
    PostAuthTokenRotate: {
      ...common,
      method: 'POST',
      path: '/v1/auth/tokens/{id}/rotate',
      summary: 'Replace one of your API tokens',
      description:
        'The new token has the same scopes and lifetime. The old one works until the end of the grace period, shown in the Sunset header of the answer.',
      params,
      body: APITokenRotateRequest,
      bodyBytesMax: 8 * KiB,
      audit: { relation: 'auth.api_token.rotate', when: 'all', object: 'token:{path.id}' },
      responses: { 200: APITokenRotateResponse },
      headers: { Sunset: 'When the old token stops working (RFC 8594)' },
      problems: ['token_not_found', 'token_not_active', 'scope_exceeds_caller', 'authz_unavailable'],
      cli: { command: 'tokens rotate', args: ['id'], refs: { id: 'tokens' }, columns },
    },
    GetAuthWhoami: {
      ...common,
      credentials: OPERATOR,
      method: 'GET',
      path: '/v1/auth/whoami',
      summary: 'Show who you are to the server',
      description: 'Needs no scope: any token can read its own identity, scopes and expiry.',
      anyScope: true,
      audit: { relation: 'auth.whoami', when: 'all', object: '{caller.subject}' },
      responses: { 200: Whoami },
      problems: [],
      cli: { command: 'whoami' },
    },
  },
)
