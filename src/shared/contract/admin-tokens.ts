import { z } from 'zod'
import { defineSurface, TOKEN_KEEPER } from './operation.ts'
import { openedFor } from './held-calls.ts'
import { KiB, uuidField } from './fields.ts'
import {
  AdminTokenIssueRequest,
  APITokenIssueResponse,
  APITokenRotateRequest,
  APITokenRotateResponse,
  APITokenSummary,
  IdentityRef,
} from './token-schemas.ts'

const params = z.strictObject({ id: uuidField('invalid_token_id', 'Token') })
const columns = ['name', 'prefix', 'scopes', 'expires_at', 'last_used_at', 'revoked_at', 'id']

const ownDomain = { relation: 'manage', object: 'domain:{caller.domain_id}' } as const

/**
 * `manage` on the owner's Domain. A caller that manages only its own Domain gets the 404 of an owner or token that does not
 * exist; everybody else is refused with the caller's own Domain as the object.
 */
const ownerGate = {
  anyOf: [{ relation: 'manage', object: 'domain:{row.domain_id}' }],
  denial: ownDomain,
  foldFor: ownDomain,
} as const
const identityGate = { ...ownerGate, fold: 'identity_not_found' } as const
/** S0 Authentication surface: the token is looked up first, so that an unknown one is 404 for every caller. */
const tokenGate = { ...ownerGate, missingRow: 'token_not_found', fold: 'token_not_found' } as const

const common = { credentials: TOKEN_KEEPER, notProvisioned: 'tokens_not_provisioned' } as const

export const adminTokens = defineSurface('admin-tokens', 'API tokens of other identities', {
  PostAdminTokens: {
    ...common,
    method: 'POST',
    path: '/v1/admin/tokens',
    summary: 'Issue an API token for another identity',
    description: 'The token acts as the identity, with at most its roles. Its plaintext is in this answer alone.',
    body: AdminTokenIssueRequest,
    bodyBytesMax: 8 * KiB,
    gate: identityGate,
    audit: { relation: 'api_token.admin.issue', when: 'denials' },
    dualControl: openedFor(
      'Issue an API token that acts as {body.identity_ref}',
      'admin-tokens.issue',
      'access.takeover',
    ),
    responses: { 201: APITokenIssueResponse },
    headers: { Location: 'Path of the new token' },
    problems: ['invalid_identity_ref', 'invalid_scope', 'identity_not_found', 'token_limit_exceeded'],
    cli: { command: 'tokens issue', columns },
  },
  GetAdminTokens: {
    ...common,
    method: 'GET',
    path: '/v1/admin/tokens',
    summary: 'List the API tokens of another identity, newest first',
    description: 'Revoked and expired tokens are among them. Nothing in the answer can be used to sign in.',
    query: z.strictObject({ identity_ref: IdentityRef }),
    gate: identityGate,
    audit: { relation: 'api_token.admin.list', when: 'denials' },
    responses: { 200: z.array(APITokenSummary).describe('The API tokens of the identity.') },
    problems: ['invalid_identity_ref', 'identity_not_found'],
    cli: { command: 'tokens list', columns },
  },
  DeleteAdminTokenByID: {
    ...common,
    method: 'DELETE',
    path: '/v1/admin/tokens/{id}',
    summary: 'Revoke an API token of another identity at once',
    description: 'Calls with the token are refused from now on. It needs `manage` on the Domain of the identity.',
    params,
    gate: tokenGate,
    audit: { relation: 'api_token.admin.revoke', when: 'denials', object: 'token:{path.id}' },
    responses: { 204: null },
    problems: ['token_not_found'],
    cli: { command: 'tokens revoke', args: ['id'], confirm: 'yes' },
  },
  PostAdminTokenRotate: {
    ...common,
    method: 'POST',
    path: '/v1/admin/tokens/{id}/rotate',
    summary: 'Replace an API token of another identity',
    description:
      'The new token has the name and scopes of the old one, which goes on working for `grace_seconds`. The new plaintext is in this answer alone.',
    params,
    body: APITokenRotateRequest,
    bodyBytesMax: 8 * KiB,
    gate: tokenGate,
    audit: { relation: 'api_token.admin.rotate', when: 'denials', object: 'token:{path.id}' },
    dualControl: openedFor('Replace token:{path.id} by a new API token', 'admin-tokens.issue', 'access.takeover'),
    responses: { 200: APITokenRotateResponse },
    headers: { Sunset: 'When the old token stops working (RFC 8594)' },
    problems: ['token_not_found', 'token_not_active'],
    cli: { command: 'tokens rotate', args: ['id'], columns },
  },
})
