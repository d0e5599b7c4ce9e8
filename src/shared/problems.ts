/** One kind of refusal. `detail` is the whole sentence that a caller reads: fixed, so that no inner error leaks (S0 convention 2). */
interface Row {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** Last segment of `type` where it is not the kebab form of the code (S0's `binding_not_found`). */
  readonly slug?: string
}

const row = (status: number, title: string, detail: string): Row => ({ status, title, detail })

/** Every code that the API answers with. An operation lists those it raises; raising another fails conformance. */
export const PROBLEMS = {
  // the edge
  invalid_body: row(
    400,
    'Invalid body',
    'The request body is not JSON, or a form where one is taken, of the documented shape.',
  ),
  invalid_query: row(400, 'Invalid query', 'A query parameter is unknown, repeated or malformed.'),
  invalid_path: row(400, 'Invalid path', 'The request path is not correctly percent-encoded.'),
  invalid_request: row(400, 'Invalid request', 'The request is not valid HTTP.'),
  invalid_cursor: row(400, 'Invalid cursor', 'The cursor was not issued for this list, or it was altered.'),
  invalid_limit: row(400, 'Invalid limit', 'The limit must be a whole number from 1 to 200.'),
  unauthenticated: row(401, 'Not signed in', 'The request carries no credential that resolves.'),
  unauthorized: row(401, 'Not signed in', 'The request carries no credential that resolves.'),
  step_up_required: row(
    401,
    'Stronger sign-in required',
    'This operation needs a stronger sign-in than this session has.',
  ),
  permission_denied: row(403, 'Permission denied', 'The caller lacks the relation that this operation needs.'),
  cursor_binding_mismatch: row(403, 'Cursor of another caller', 'The cursor was issued to another caller.'),
  csrf_failed: row(403, 'Forgery check failed', 'The request lacks the anti-forgery token of its session.'),
  origin_not_allowed: row(403, 'Origin not allowed', 'State-changing calls from this origin are not allowed.'),
  not_found: row(404, 'Not found', 'There is nothing at this path.'),
  'not-found': row(404, 'Not found', 'The documentation has no such asset.'),
  method_not_allowed: row(405, 'Method not allowed', 'This path does not support the request method.'),
  request_timeout: row(408, 'Request timeout', 'The request did not arrive in time.'),
  request_body_too_large: row(413, 'Body too large', 'The request body exceeds the cap of this operation.'),
  unsupported_media_type: row(415, 'Unsupported media type', 'The body must be sent as application/json.'),
  headers_too_large: row(431, 'Headers too large', 'The request headers exceed what the server accepts.'),
  rate_limited: row(
    429,
    'Too many requests',
    'The rate limit is exhausted; retry after the time given in Retry-After.',
  ),
  too_many_bodies: row(
    429,
    'Too many bodies at once',
    'The caller is sending more bytes of request bodies at once than are allowed; retry shortly.',
  ),
  internal: row(500, 'Internal error', 'The server failed; its log has the reason under this correlation id.'),
  not_provisioned: row(501, 'Not provisioned', 'This server is not configured to serve the operation.'),
  authz_not_provisioned: row(501, 'Not provisioned', 'This server has no authorization engine configured.'),
  authz_unavailable: row(503, 'Authorization unavailable', 'Authorization cannot be decided right now; retry shortly.'),
  datastore_unavailable: row(503, 'Datastore unavailable', 'The datastore cannot be reached right now; retry shortly.'),
  overloaded: row(503, 'Overloaded', 'The server has more to do than it can finish in time; retry shortly.'),
  shutting_down: row(503, 'Shutting down', 'The server is draining; retry against another replica or shortly.'),
  signing_unavailable: row(
    503,
    'Signing unavailable',
    'The signing service cannot be reached right now; retry shortly.',
  ),
  event_stream_unavailable: row(
    503,
    'Event stream unavailable',
    'Events cannot be streamed right now; retry shortly. The state of a node can still be read.',
  ),

  // authorization
  invalid_triple: row(
    400,
    'Invalid triple',
    'The subject, relation or resource is empty, malformed or not allowed there.',
  ),
  invalid_tuple_id: row(400, 'Invalid tuple id', 'The tuple id must be a UUID other than zero.'),
  tuple_not_found: row(404, 'Tuple not found', 'No such tuple exists.'),
  resource_not_in_project: row(
    400,
    'Resource not in the Project',
    'The resource is neither the Project nor an object that lies in it.',
  ),
  tuple_already_exists: row(409, 'Tuple already exists', 'An identical tuple exists already.'),

  // tenancy
  invalid_domain_id: row(400, 'Invalid Domain id', 'The Domain id must be a UUID other than zero.'),
  domain_not_found: row(404, 'Domain not found', 'No such Domain exists.'),
  domain_not_empty: row(409, 'Domain not empty', 'The Domain still holds objects; the counts name them.'),
  invalid_project_id: row(400, 'Invalid Project id', 'The Project id must be a UUID other than zero.'),
  project_not_found: row(404, 'Project not found', 'No such Project exists.'),
  project_not_empty: row(409, 'Project not empty', 'The Project still holds objects; the counts name them.'),
  invalid_resource_id: row(400, 'Invalid resource id', 'The resource id must be a UUID other than zero.'),
  resource_not_found: row(404, 'Resource not found', 'No such resource exists in this Project.'),
  host_node_not_in_domain: row(400, 'Host node elsewhere', 'A host node does not exist in the Domain of the resource.'),
  slug_conflict: row(409, 'Slug taken', 'Another object in the same place has this slug.'),
  empty_patch: row(400, 'Empty patch', 'The patch names no member to change.'),
  invalid_group_id: row(400, 'Invalid group id', 'The group id must be a UUID other than zero.'),
  group_not_found: row(404, 'Group not found', 'No such group exists in this Domain.'),
  provider_group_conflict: row(
    409,
    'Provider group taken',
    'Another group of the Domain mirrors this group of the identity provider.',
  ),
  group_managed_by_provider: row(
    409,
    'Managed by the provider',
    'The group mirrors one of the identity provider; its members change there.',
  ),
  group_full: row(409, 'Group full', 'The group has as many direct members as are allowed.'),
  last_platform_admin: row(409, 'Last platform administrator', 'The platform would be left without an administrator.'),
  group_member_not_found: row(404, 'Member not found', 'The subject is not a direct member of the group.'),

  // principals and tokens
  invalid_principal_id: row(400, 'Invalid principal id', 'The principal id must be a UUID other than zero.'),
  invalid_kind: row(400, 'Invalid kind', 'The kind is not one of those documented.'),
  invalid_service_identity: row(
    400,
    'Invalid service identity',
    'The service identity has a member that is missing, malformed or too large.',
  ),
  identity_not_found: row(404, 'Identity not found', 'No such identity exists in this Domain.'),
  service_identity_already_exists: row(
    409,
    'Subject taken',
    'A service identity with this subject or SPIFFE ID exists in the Domain.',
  ),
  service_identity_in_use: row(
    409,
    'Service identity in use',
    'Something that the service identity asked for is still under way; end it first.',
  ),
  identities_not_provisioned: row(501, 'Not provisioned', 'This server has no identity store configured.'),
  invalid_token_id: row(400, 'Invalid token id', 'The token id must be a UUID other than zero.'),
  invalid_identity_ref: row(
    400,
    'Invalid identity reference',
    'The identity must be given as user:<uuid> or service:<uuid>.',
  ),
  invalid_scope: row(400, 'Invalid scope', 'A scope is * or <surface>:read or <surface>:write.'),
  scope_exceeds_caller: row(403, 'Scope too wide', 'A token may pass on only scopes and lifetime that it has itself.'),
  token_not_found: row(404, 'Token not found', 'No such token exists.'),
  token_not_active: row(409, 'Token not active', 'The token is revoked, expired or already rotated.'),
  token_limit_exceeded: row(
    409,
    'Too many tokens',
    'The owner has as many live tokens as are allowed; revoke one first.',
  ),
  tokens_not_provisioned: row(501, 'Not provisioned', 'This server has no token store configured.'),

  // signing in
  invalid_idp_binding_id: row(400, 'Invalid binding id', 'The binding id must be a UUID other than zero.'),
  invalid_idp_binding: row(
    400,
    'Invalid binding',
    'A member of the binding is malformed or contradicts another; `reason` says which.',
  ),
  idp_binding_not_found: {
    ...row(404, 'Binding not found', 'No active identity provider binding fits the request.'),
    slug: 'binding_not_found',
  },
  domain_required: row(
    400,
    'Domain required',
    'The server has several Domains and the request names none: give the slug of yours as domain, or its id as domain_id. Whoever invited you knows it.',
  ),
  'alias-not-found': row(404, 'Alias not found', 'No active identity provider binding of the Domain has this alias.'),
  'multiple-bindings': row(
    400,
    'Several bindings',
    'The Domain has several identity providers and none is primary; name one.',
  ),
  idp_binding_conflict: row(
    409,
    'Binding taken',
    'Another binding has this alias, is primary already, or takes the same issuer and audience.',
  ),
  idp_unavailable: row(503, 'Identity provider unavailable', 'The identity provider cannot be reached; retry shortly.'),
  invalid_sign_in: row(
    400,
    'Invalid sign-in',
    'This sign-in was not begun in this browser, or it has been used up; begin again.',
  ),
  sign_in_expired: row(400, 'Sign-in expired', 'The sign-in took longer than 10 minutes; begin again.'),
  sign_in_refused: row(403, 'Sign-in refused', 'The identity provider did not confirm who signs in.'),
  insufficient_authentication: row(
    403,
    'Stronger sign-in required',
    'The identity provider did not confirm the strength of sign-in that the binding requires.',
  ),
  not_invited: row(403, 'Not invited', 'Nobody has let this person into the Domain.'),
  user_disabled: row(403, 'User disabled', 'This person may not sign in to the Domain any more.'),
  session_required: row(403, 'Browser session required', 'Only a browser session can do this, not a token.'),
  reauthentication_required: row(
    401,
    'Sign in again',
    'The sign-in of this session is older than 15 minutes; sign in again to go on.',
  ),
  invalid_session_id: row(400, 'Invalid session id', 'The session id must be a UUID other than zero.'),
  session_not_found: row(404, 'Session not found', 'No such session is live.'),
  invalid_user_code: row(400, 'Invalid user code', 'The code must be 8 letters as the device shows them.'),
  device_session_not_found: row(404, 'Code not found', 'No device waits with this code; it may have expired.'),
  device_flow_exhausted: row(503, 'Too many sign-ins', 'Too many devices wait for approval; retry shortly.'),
  authorization_pending: row(400, 'Authorization pending', 'Nobody has decided yet; ask again after the interval.'),
  slow_down: row(400, 'Slow down', 'Asked too early; wait 5 seconds longer between questions from now on.'),
  access_denied: row(400, 'Access denied', 'The sign-in of this device was refused.'),
  expired_token: row(400, 'Code expired', 'The device code has expired; begin again.'),
  invalid_grant: row(
    400,
    'Invalid grant',
    'The code or assertion is unknown, used up, expired or not for this server.',
  ),
  invalid_client: row(400, 'Invalid client', 'The client assertion does not prove a service identity.'),
  unsupported_grant_type: row(400, 'Unsupported grant type', 'This endpoint does not take the grant type.'),
  invalid_trust_bundle: row(
    400,
    'Invalid trust bundle',
    'A bundle is malformed, repeats a trust domain or has no key for JWT-SVIDs.',
  ),
  invalid_invitation_id: row(400, 'Invalid invitation id', 'The invitation id must be a UUID other than zero.'),
  invitation_not_found: row(404, 'Invitation not found', 'No such open invitation exists in this Domain.'),
  invitation_already_exists: row(409, 'Already invited', 'An open invitation for this address exists in the Domain.'),
  invalid_account_id: row(400, 'Invalid account id', 'The account id must be a UUID other than zero.'),
  account_not_found: row(404, 'Account not found', 'No such local account exists.'),
  invalid_factor_id: row(400, 'Invalid factor id', 'The factor id must be a UUID other than zero.'),
  factor_not_found: row(404, 'Factor not found', 'Your local account has no such second factor.'),
  last_second_factor: row(
    409,
    'Second factor required',
    'Signing in here takes this factor; set up another one first, while signing in.',
  ),
  account_already_exists: row(409, 'Login taken', 'A local account with this login or address exists.'),
  sign_in_not_provisioned: row(501, 'Not provisioned', 'This server has no sign-in configured.'),
  bundled_provider_not_provisioned: row(501, 'Not provisioned', 'The bundled identity provider is switched off.'),

  // nodes
  invalid_node_id: row(400, 'Invalid node id', 'The node id must be a UUID other than zero.'),
  invalid_domain_filter: row(400, 'Invalid Domain filter', 'The Domain filter must be a UUID other than zero.'),
  invalid_reachability: row(
    400,
    'Invalid reachability',
    'The reachability filter is not one of the documented states.',
  ),
  invalid_public_key: row(
    400,
    'Invalid public key',
    'The public key is not a usable Curve25519 key of 32 bytes in base64.',
  ),
  invalid_checksum: row(400, 'Invalid checksum', 'The checksum must be a SHA-256 as 64 hex digits or padded base64.'),
  clock_skew: row(400, 'Clock skew', 'The client clock differs from the server clock by more than 60 seconds.'),
  node_id_mismatch: row(403, 'Credential of another node', 'The node credential belongs to another node.'),
  nsk_revoked: row(401, 'Node key revoked', 'The node secret key is revoked; enrol the node again.'),
  nsk_not_active: row(409, 'Node key not active', 'The node has no working secret key; enrol it with a join token.'),
  node_not_found: row(404, 'Node not found', 'No such node exists.'),
  node_name_conflict: row(409, 'Node name taken', 'Another node of the Domain has this name.'),
  public_key_in_use: row(409, 'Public key in use', 'Another node of the Domain uses this public key.'),
  mesh_addresses_exhausted: row(409, 'Mesh addresses exhausted', 'The Domain has no free mesh address left.'),
  invalid_last_event_id: row(
    400,
    'Invalid Last-Event-ID',
    'Last-Event-ID must be the number of an event of this stream.',
  ),
  session_limit_exceeded: row(
    429,
    'Too many streams',
    'The node has as many open streams as are allowed; close one first.',
  ),
  signed_event_bus_not_provisioned: row(501, 'Not provisioned', 'This server has no event stream configured.'),
  nodes_not_provisioned: row(501, 'Not provisioned', 'This server has no node store configured.'),
  heartbeat_not_provisioned: row(501, 'Not provisioned', 'This server does not take heartbeats.'),
  reachability_not_provisioned: row(501, 'Not provisioned', 'This server does not track reachability.'),
  per_node_rate_limited: row(
    429,
    'Too many requests',
    'This node exceeds its request rate; retry after the time in Retry-After.',
  ),
  per_domain_rate_limited: row(
    429,
    'Too many requests',
    'This Domain exceeds its request rate; retry after the time in Retry-After.',
  ),

  // what nodes report
  endpoint_unparseable: row(
    400,
    'Endpoint not usable',
    'The endpoint must be an IPv4 or bracketed IPv6 address, no loopback, with a port from 1 to 65535.',
  ),
  endpoint_clock_skew: row(
    400,
    'Endpoint too old or ahead',
    'The observation is more than 60 seconds off the server clock, or older than endpoints may be in the Domain.',
  ),
  forbidden: row(403, 'Credential of another node', 'The node credential belongs to another node.'),
  nsk_node_mismatch: row(403, 'Credential of another node', 'The node credential belongs to another node.'),
  invalid_batch: row(400, 'Invalid batch', 'The batch must hold 1 to 256 violations of the documented shape.'),
  invalid_report: row(
    400,
    'Invalid report',
    'The key must follow the documented grammar and the value be at most 4096 bytes of canonical JSON.',
  ),
  report_not_found: row(404, 'Report not found', 'The node has no report under this key.'),
  report_limit_exceeded: row(409, 'Too many reports', 'The node has as many reports as are allowed; delete one first.'),
  endpoint_not_provisioned: row(501, 'Not provisioned', 'This server does not take endpoints.'),
  capabilities_not_provisioned: row(501, 'Not provisioned', 'This server does not take capabilities.'),
  integrity_violations_not_provisioned: row(501, 'Not provisioned', 'This server does not take integrity reports.'),
  reports_not_provisioned: row(501, 'Not provisioned', 'This server does not take state reports.'),

  // keys of the mesh
  same_peer: row(400, 'Same node', 'An edge has two ends: the peer must be another node.'),
  peer_not_found: row(404, 'Peer not found', 'The Domain has no such node.'),
  rotation_not_found: row(404, 'Rotation not found', 'No key rotation of the node was ever requested.'),
  no_pending_rotation: row(409, 'No pending rotation', 'No key rotation of the node waits to be completed.'),
  edge_psk_not_provisioned: row(501, 'Not provisioned', 'This server does not hand out keys of edges.'),
  node_keys_rotate_not_provisioned: row(501, 'Not provisioned', 'This server does not rotate keys.'),
  node_keys_rotate_preview_not_provisioned: row(501, 'Not provisioned', 'This server does not preview rotations.'),
  keys_rotate_not_provisioned: row(501, 'Not provisioned', 'This server does not complete key rotations.'),

  // the mesh
  invalid_label_filter: row(400, 'Invalid label filter', 'The label filter must be key=value, or several with commas.'),
  topology_filter_required: row(
    400,
    'One node only',
    'The Domain has more than 300 nodes; name the node whose edges to show.',
  ),
  epoch_filter_required: row(400, 'Name the nodes', 'The Domain has more than 1000 nodes; name those to compare.'),
  mesh_topology_not_provisioned: row(501, 'Not provisioned', 'This server does not show the mesh.'),

  // executions and mediated sessions
  invalid_execution_id: row(400, 'Invalid execution id', 'The execution id must be a UUID other than zero.'),
  invalid_execution_status: row(400, 'Invalid status', 'The status filter is not one of the documented states.'),
  unknown_action: row(400, 'Unknown action', 'The action is neither built in nor a hook that the node declares.'),
  execution_not_found: row(404, 'Execution not found', 'The node has no such execution.'),
  illegal_transition: row(409, 'Illegal transition', 'The status cannot follow the one that it has.'),
  capacity_exceeded: row(
    429,
    'Capacity exceeded',
    'The Domain has as much under way as its target allows; retry after the time in Retry-After.',
  ),
  session_already_revoked: row(409, 'Session revoked', 'The session has been revoked.'),
  executions_not_provisioned: row(501, 'Not provisioned', 'This server does not run actions on nodes.'),
  sessions_not_provisioned: row(501, 'Not provisioned', 'This server does not mediate sessions.'),
  invalid_join_token: row(
    401,
    'Invalid join token',
    'The join token is unknown, expired, revoked or not for this use.',
  ),
  join_token_exhausted: row(409, 'Join token exhausted', 'The join token has been used as often as it allows.'),
  invalid_join_token_id: row(400, 'Invalid join token id', 'The join token id must be a UUID other than zero.'),
  join_token_not_found: row(404, 'Join token not found', 'No such join token exists in this Domain.'),

  // audit
  invalid_audit_filter: row(
    400,
    'Invalid audit filter',
    'A filter of the audit query is missing, malformed or contradictory.',
  ),
} as const satisfies { readonly [code: string]: Row }

export type ProblemCode = keyof typeof PROBLEMS

/** Members that some problems carry beyond the RFC 9457 ones, e.g. `counts` of `domain_not_empty`. */
export type ProblemExtras = { readonly [member: string]: unknown }

/** An expected failure. The server throws it, the edge writes it, the client throws it again. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly extras: ProblemExtras

  constructor(code: ProblemCode, extras: ProblemExtras, cause: unknown) {
    super(PROBLEMS[code].detail, cause === undefined ? undefined : { cause })
    this.name = 'Problem'
    this.code = code
    this.status = PROBLEMS[code].status
    this.extras = extras
  }
}

/** Makes a problem from the catalogue; `cause` reaches the log and never the answer. */
export function problem(code: ProblemCode, extras: ProblemExtras = {}, cause?: unknown): Problem {
  return new Problem(code, extras, cause)
}

/** The problem `type`: a relative URI whose last segment is the kebab form of the code (S1 Errors). */
export function problemType(code: ProblemCode): string {
  const { slug }: Row = PROBLEMS[code]
  return `/problems/${slug ?? code.replaceAll('_', '-')}`
}
