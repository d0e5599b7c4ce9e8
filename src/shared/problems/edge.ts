import { invalid, limited, row, unavailable, type MemberError } from './row.ts'

/** S0 convention 3. */
interface Denial {
  readonly reason: 'insufficient_relation' | 'out_of_scope'
  /** The relations that were tried, none of which granted. */
  readonly relation_path: readonly string[]
  readonly missing_relation: { readonly object: string; readonly relation: string; readonly subject: string }
}

/** Problems that any operation may answer with. */
export const EDGE_PROBLEMS = {
  invalid_body: invalid(
    'Invalid body',
    'The request body is not JSON, or a form where one is taken, of the documented shape.',
  ),
  invalid_query: invalid('Invalid query', 'A query parameter is unknown, repeated or malformed.'),
  invalid_path: invalid('Invalid path', 'The request path is not correctly percent-encoded.'),
  invalid_request: invalid('Invalid request', 'The request is not valid HTTP.'),
  invalid_cursor: invalid('Invalid cursor', 'The cursor was not issued for this list, or it was altered.'),
  invalid_limit: invalid('Invalid limit', 'The limit must be a whole number from 1 to 200.'),
  unauthenticated: row(401, 'Not signed in', 'The request carries no credential that resolves.'),
  unauthorized: row(401, 'Not signed in', 'The request carries no credential that resolves.'),
  step_up_required: row<{
    readonly challenge: string
    readonly acr_values?: readonly string[]
    readonly max_age?: number
  }>(401, 'Stronger sign-in required', 'This operation needs a stronger sign-in than this session has.'),
  permission_denied: row<Denial>(403, 'Permission denied', 'The caller lacks the relation that this operation needs.'),
  cursor_binding_mismatch: row(403, 'Cursor of another caller', 'The cursor was issued to another caller.'),
  csrf_failed: row(403, 'Forgery check failed', 'The request lacks the anti-forgery token of its session.'),
  origin_not_allowed: row(403, 'Origin not allowed', 'State-changing calls from this origin are not allowed.'),
  not_found: row(404, 'Not found', 'There is nothing at this path.'),
  'not-found': row<{ readonly errors?: readonly MemberError[] }>(
    404,
    'Not found',
    'The documentation has no such asset.',
  ),
  method_not_allowed: row(405, 'Method not allowed', 'This path does not support the request method.'),
  request_timeout: row(408, 'Request timeout', 'The request did not arrive in time.'),
  request_body_too_large: row(413, 'Body too large', 'The request body exceeds the cap of this operation.'),
  unsupported_media_type: row(415, 'Unsupported media type', 'The body must be sent as application/json.'),
  headers_too_large: row(431, 'Headers too large', 'The request headers exceed what the server accepts.'),
  rate_limited: limited('Too many requests', 'The rate limit is exhausted; retry after the time given in Retry-After.'),
  too_many_bodies: limited(
    'Too many bodies at once',
    'The caller is sending more bytes of request bodies at once than are allowed; retry shortly.',
  ),
  internal: row(500, 'Internal error', 'The server failed; its log has the reason under this correlation id.'),
  not_provisioned: row(501, 'Not provisioned', 'This server is not configured to serve the operation.'),
  authz_not_provisioned: row(501, 'Not provisioned', 'This server has no authorization engine configured.'),
  authz_unavailable: unavailable(
    'Authorization unavailable',
    'Authorization cannot be decided right now; retry shortly.',
  ),
  datastore_unavailable: unavailable(
    'Datastore unavailable',
    'The datastore cannot be reached right now; retry shortly.',
  ),
  overloaded: unavailable('Overloaded', 'The server has more to do than it can finish in time; retry shortly.'),
  shutting_down: unavailable('Shutting down', 'The server is draining; retry against another replica or shortly.'),
  signing_unavailable: unavailable(
    'Signing unavailable',
    'The signing service cannot be reached right now; retry shortly.',
  ),
  event_stream_unavailable: unavailable(
    'Event stream unavailable',
    'Events cannot be streamed right now; retry shortly. The state of a node can still be read.',
  ),
} as const
