import { invalid, row, type Counts } from './row.ts'

/** Problems of users, service identities and their tokens. */
export const IDENTITY_PROBLEMS = {
  invalid_principal_id: invalid('Invalid principal id', 'The principal id must be a UUID other than zero.'),
  invalid_kind: invalid('Invalid kind', 'The kind is not one of those documented.'),
  invalid_service_identity: invalid(
    'Invalid service identity',
    'The service identity has a member that is missing, malformed or too large.',
  ),
  identity_not_found: row(404, 'Identity not found', 'No such identity exists in this Domain.'),
  service_identity_already_exists: row(
    409,
    'Subject taken',
    'A service identity with this subject or SPIFFE ID exists in the Domain.',
  ),
  service_identity_in_use: row<{ readonly counts: Counts }>(
    409,
    'Service identity in use',
    'Something that the service identity asked for is still under way; end it first.',
  ),
  identities_not_provisioned: row(501, 'Not provisioned', 'This server has no identity store configured.'),
  invalid_token_id: invalid('Invalid token id', 'The token id must be a UUID other than zero.'),
  invalid_identity_ref: invalid(
    'Invalid identity reference',
    'The identity must be given as user:<uuid> or service:<uuid>.',
  ),
  invalid_scope: invalid('Invalid scope', 'A scope is * or <surface>:read or <surface>:write.'),
  scope_exceeds_caller: row(403, 'Scope too wide', 'A token may pass on only scopes and lifetime that it has itself.'),
  token_not_found: row(404, 'Token not found', 'No such token exists.'),
  token_not_active: row(409, 'Token not active', 'The token is revoked, expired or already rotated.'),
  token_limit_exceeded: row(
    409,
    'Too many tokens',
    'The owner has as many live tokens as are allowed; revoke one first.',
  ),
  tokens_not_provisioned: row(501, 'Not provisioned', 'This server has no token store configured.'),
} as const
