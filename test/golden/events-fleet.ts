import { frameOf, vector, vectorKey } from '../support/events/event-vectors.ts'
import { refused, type StubRoutes } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const KEY = vectorKey('key-1', 7)
const occurred_at = '2026-02-01T11:58:00.000Z'
const psk_issued_at = '2026-02-02T02:40:00.000000000Z'

const peer = (node_id: string, ...changes: readonly string[]) => ({ node_id, changes, psk_issued_at })

/** One of each type, and one of a later version. */
const EVENTS = [
  { payload: { reason: 'changed', blocks: ['peers'], peers: [peer(ID.db, 'registered', 'psk_assigned')] } },
  {
    payload: {
      reason: 'changed',
      blocks: ['keys', 'peers'],
      peers: [peer(ID.db, 'key_rotated'), peer(ID.old, 'deregistered'), peer(ID.me, 'endpoint_changed')],
    },
  },
  {
    type: 'policy_updated',
    payload: { node_id: ID.web, policy_id: ID.ci, revision_id: ID.me, fingerprint: 'A'.repeat(44), rules: [{}, {}] },
  },
  {
    type: 'action_request',
    payload: {
      execution_id: ID.phone,
      action: 'ping',
      type: 'builtin',
      status: 'pending',
      requested_at: occurred_at,
      expires_at: occurred_at,
    },
  },
  {
    type: 'session_setup',
    payload: { session_id: ID.phone, jti: ID.phone, kind: 'ssh', target: 'root@web-1', expires_at: occurred_at },
  },
  { type: 'bridge_config_updated', payload: { node_id: ID.web, bridge_resource_id: ID.lab, effective_config: {} } },
  { type: 'tide_turned', payload: { height: 1.5 } },
  { payload: { reason: 'resync', blocks: [], peers: [] } },
]

const VECTORS = EVENTS.map((event, at) => vector(KEY, { node_id: ID.web, node_seq: at + 1, occurred_at, ...event }))
const FRAMES = VECTORS.map((one, at) => frameOf(one, (at + 1) * 10, EVENTS[at]?.type))
const NOTHING = frameOf(vector(KEY, { node_id: ID.db, node_seq: 0, occurred_at, payload: EVENTS[7]?.payload }), 90)

const SSE = { 'content-type': 'text/event-stream' }
const HEAD_ID = '9007199254740991'

/** The streams of the fleet's nodes. */
export const EVENT_STREAMS: StubRoutes = {
  [`GET /v1/nodes/${ID.web}/events`]: ({ headers }) => {
    const since = headers['last-event-id']
    const after = since === HEAD_ID ? FRAMES.length - 1 : Number(since) / 10
    return { headers: SSE, body: FRAMES.slice(after).join('') }
  },
  [`GET /v1/nodes/${ID.db}/events`]: { headers: SSE, body: NOTHING },
  [`GET /v1/domains/${ID.domain}/events/stream`]: { headers: SSE, body: ':keep-alive\n\n' },
  [`GET /v1/domains/${ID.lab}/events/stream`]: refused(403, 'permission_denied', 'You lack read on the Domain.'),
}

/** As `ctl nodes events -o jsonl` writes them. */
export const SAVED = VECTORS.map(({ wire }) => `${wire}\n`).join('')
export const EVENT_KEYS = JSON.stringify({ keys: [KEY.jwk] })
