import { PAYLOAD_SHAPES } from '../events/payload-shapes.ts'
import { WIRE_TYPES } from '../events/wire-types.ts'
import { MESSAGE_TYPES } from '../webhooks/event-types.ts'
import { MESSAGE_SHAPES } from '../webhooks/message-shapes.ts'
import type { JsonSchema } from './json-schema.ts'
import { NODE_FORMATS, type NodeFormat } from './node-formats.ts'

/** The second half of the contract: what nodes and the endpoints of webhooks are sent that the OpenAPI document does not show. */
export interface EventsDocument {
  readonly title: string
  readonly version: 'v1'
  /** The operation that delivers the events. */
  readonly operation: string
  /** By event type: the JSON Schema (draft 2020-12) of the payload. Readers tolerate members and types that they do not know. */
  readonly events: Readonly<Record<string, JsonSchema>>
  /** By name. */
  readonly formats: Readonly<Record<string, NodeFormat>>
  /** By type: the JSON Schema of the body that is sent to the endpoints of webhooks. */
  readonly webhooks: Readonly<Record<string, JsonSchema>>
}

/** Derives the document from the declarations that agents check events with. */
export function eventsOf(): EventsDocument {
  return {
    title: 'ctl events and node formats',
    version: 'v1',
    operation: 'GET /v1/nodes/{id}/events',
    events: Object.fromEntries(WIRE_TYPES.map((type) => [type, PAYLOAD_SHAPES[type].schema])),
    formats: NODE_FORMATS,
    webhooks: Object.fromEntries(MESSAGE_TYPES.map((type) => [type, MESSAGE_SHAPES[type].schema])),
  }
}

/** The document as it is committed: one member a line, so that a diff shows each change. */
export function eventsDocument(): string {
  return `${JSON.stringify(eventsOf(), undefined, 1)}\n`
}
