import { invalid, row, unavailable } from './row.ts'

/** Problems of signing in, browser sessions and local accounts. */
export const SIGN_IN_PROBLEMS = {
  invalid_idp_binding_id: invalid('Invalid binding id', 'The binding id must be a UUID other than zero.'),
  invalid_idp_binding: invalid<{ readonly reason?: string }>(
    'Invalid binding',
    'A member of the binding is malformed or contradicts another; `reason` says which.',
  ),
  idp_binding_not_found: {
    ...row(404, 'Binding not found', 'No active identity provider binding fits the request.'),
    slug: 'binding_not_found',
  },
  domain_required: invalid(
    'Domain required',
    'The server has several Domains and the request names none: give the slug of yours as domain, or its id as domain_id. The person who invited you knows it.',
  ),
  'alias-not-found': row(404, 'Alias not found', 'No active identity provider binding of the Domain has this alias.'),
  'multiple-bindings': invalid(
    'Several bindings',
    'The Domain has several identity providers and none is primary; name one.',
  ),
  idp_binding_conflict: row<{ readonly reason: string }>(
    409,
    'Binding taken',
    'Another binding has this alias, is primary already, or takes the same issuer and audience.',
  ),
  idp_unavailable: unavailable(
    'Identity provider unavailable',
    'The identity provider cannot be reached; retry shortly.',
  ),
  invalid_sign_in: invalid(
    'Invalid sign-in',
    'This sign-in was not begun in this browser, or it has been used up; begin again.',
  ),
  sign_in_expired: invalid('Sign-in expired', 'The sign-in took longer than 10 minutes; begin again.'),
  sign_in_refused: row(403, 'Sign-in refused', 'The identity provider did not confirm who signs in.'),
  insufficient_authentication: row(
    403,
    'Stronger sign-in required',
    'The identity provider did not confirm a sign-in as strong or as recent as was required.',
  ),
  not_invited: row(403, 'Not invited', 'Nobody has let this person into the Domain.'),
  user_disabled: row(403, 'User disabled', 'This person may not sign in to the Domain any more.'),
  session_required: row(403, 'Browser session required', 'Only a browser session can do this, not a token.'),
  reauthentication_required: row(
    401,
    'Sign in again',
    'The sign-in of this session is older than 15 minutes; sign in again to go on.',
  ),
  invalid_session_id: invalid('Invalid session id', 'The session id must be a UUID other than zero.'),
  session_not_found: row(404, 'Session not found', 'No such session is live.'),
  invalid_user_code: invalid('Invalid user code', 'The code must be 8 letters as the device shows them.'),
  device_session_not_found: row(404, 'Code not found', 'No device waits with this code; it may have expired.'),
  device_flow_exhausted: unavailable('Too many sign-ins', 'Too many devices wait for approval; retry shortly.'),
  authorization_pending: invalid('Authorization pending', 'Nobody has decided yet; ask again after the interval.'),
  slow_down: invalid('Slow down', 'Asked too early; wait 5 seconds longer between questions from now on.'),
  access_denied: invalid('Access denied', 'The sign-in of this device was refused.'),
  expired_token: invalid('Code expired', 'The device code has expired; begin again.'),
  invalid_grant: invalid('Invalid grant', 'The code or assertion is unknown, used up, expired or not for this server.'),
  invalid_client: invalid('Invalid client', 'The client assertion does not prove a service identity.'),
  unsupported_grant_type: invalid('Unsupported grant type', 'This endpoint does not take the grant type.'),
  invalid_trust_bundle: invalid(
    'Invalid trust bundle',
    'A bundle is malformed, repeats a trust domain or has no key for JWT-SVIDs.',
  ),
  invalid_invitation_id: invalid('Invalid invitation id', 'The invitation id must be a UUID other than zero.'),
  invitation_not_found: row(404, 'Invitation not found', 'No such open invitation exists in this Domain.'),
  invitation_already_exists: row(409, 'Already invited', 'An open invitation for this address exists in the Domain.'),
  invalid_account_id: invalid('Invalid account id', 'The account id must be a UUID other than zero.'),
  account_not_found: row(404, 'Account not found', 'No such local account exists.'),
  invalid_factor_id: invalid('Invalid factor id', 'The factor id must be a UUID other than zero.'),
  factor_not_found: row(404, 'Factor not found', 'Your local account has no such second factor.'),
  last_second_factor: row(
    409,
    'Second factor required',
    'Signing in here takes this factor; set up another one first, while signing in.',
  ),
  account_already_exists: row(409, 'Login taken', 'A local account with this login or address exists.'),
  sign_in_not_provisioned: row(501, 'Not provisioned', 'This server has no sign-in configured.'),
  bundled_provider_not_provisioned: row(501, 'Not provisioned', 'The bundled identity provider is switched off.'),
} as const
