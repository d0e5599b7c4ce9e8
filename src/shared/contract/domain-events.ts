import { z } from 'zod'
import { DomainEventEnvelope } from './domain-event-schemas.ts'
import { uuidField } from './fields.ts'
import { STREAM_OVERLOADED } from './stream-overloaded.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

export const domainEvents = defineSurface('domain-events', 'Signed events of a Domain, for operators', {
  GetDomainEvents: {
    method: 'GET',
    path: '/v1/domains/{domain_id}/events/stream',
    summary: 'Follow the signed events of a Domain',
    description:
      'Server-sent events: what changes in the Domain, as ids. Each frame has an `id` to resume from, the type of the event, and a signed envelope as its data. A comment every 25 seconds keeps the connection alive. `stream.resync` means that events were left out: read again what you show.',
    credentials: OPERATOR,
    params: z.strictObject({ domain_id: uuidField('invalid_domain_id', 'Domain') }),
    gate: check('read', 'domain:{path.domain_id}'),
    audit: { relation: 'domain_events.subscribe', when: 'all', object: 'domain:{path.domain_id}' },
    requestHeaders: {
      'Last-Event-ID': 'Resume strictly after this `id`; without it the stream begins with what comes next',
    },
    responses: {
      200: {
        media: 'text/event-stream',
        describe: 'Frames until either side ends the stream. The schema is that of the `data` of a frame.',
        schema: DomainEventEnvelope,
        streams: true,
      },
    },
    headers: { 'Cache-Control': '`no-cache`' },
    problems: ['invalid_last_event_id', 'session_limit_exceeded', 'event_stream_unavailable'],
    sentences: {
      session_limit_exceeded: 'You have as many open streams of Domains as are allowed; close one first.',
      event_stream_unavailable: 'Events cannot be streamed right now; retry shortly. Objects can still be read.',
      overloaded: STREAM_OVERLOADED,
    },
    notProvisioned: 'signed_event_bus_not_provisioned',
    cli: { command: 'events tail', refs: { domain_id: 'domains' } },
  },
})
