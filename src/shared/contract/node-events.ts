import { z } from 'zod'
import { EventEnvelope } from './event-schemas.ts'
import { uuidField } from './fields.ts'
import { STREAM_OVERLOADED } from './stream-overloaded.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

export const nodeEvents = defineSurface('events', 'Signed events for nodes', {
  GetNodeEvents: {
    method: 'GET',
    path: '/v1/nodes/{id}/events',
    summary: 'Follow the signed events of a node',
    description:
      'Server-sent events. Each frame has an `id` to resume from, one of five event types, and a signed envelope as its data. A comment every 25 seconds keeps the connection alive.',
    credentials: [...OPERATOR, 'nsk'],
    unauthenticated: 'unauthorized',
    params: z.strictObject({ id: uuidField('invalid_node_id', 'Node') }),
    gate: { ...check('node-agent', 'node:{path.id}'), ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'node_events.subscribe', when: 'all', object: 'node:{path.id}' },
    requestHeaders: {
      'Last-Event-ID': 'Resume strictly after this `id`; without it the stream begins with what comes next',
    },
    responses: {
      200: {
        media: 'text/event-stream',
        describe: 'Frames until either side ends the stream. The schema is that of the `data` of a frame.',
        schema: EventEnvelope,
        streams: true,
      },
    },
    headers: { 'Cache-Control': '`no-cache`' },
    problems: ['invalid_last_event_id', 'session_limit_exceeded', 'node_not_found', 'event_stream_unavailable'],
    sentences: { overloaded: STREAM_OVERLOADED },
    notProvisioned: 'signed_event_bus_not_provisioned',
    cli: { command: 'nodes events', args: ['id'], refs: { id: 'nodes' } },
  },
})
