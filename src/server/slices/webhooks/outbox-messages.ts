import type { z } from 'zod'
import type { Message } from '../../../shared/webhooks/message-shapes.ts'
import type { NumberedEvent } from '../../ports/outbox.ts'
import type { OutboxEvents, OutboxPayload } from '../../ports/outbox-events.ts'
import type { Subscriber } from './enqueue-store.ts'
import { messageOf } from './enqueue.ts'

/** Outbox events that become messages. */
type Source = 'ApprovalRequested' | 'CapacityThresholdCrossed' | 'IntegrityViolationOpened' | 'RolloutHalted'

/** What a message has beside the payload of its event. */
interface Place {
  readonly domain: Pick<Subscriber, 'domain_id' | 'domain_slug'>
  readonly at: Date
  /** Undefined where the node is gone. */
  readonly nameOf: (nodeId: string) => string | undefined
}

interface Row<Literal extends Source> {
  readonly type: Message['type']
  /** What happened; an event that comes twice has the same. */
  keyOf(payload: OutboxPayload<Literal>, event: NumberedEvent): string
  messageOf(payload: OutboxPayload<Literal>, place: Place): Message
}

/** How each event becomes a message. */
const ROWS: { readonly [Literal in Source]: Row<Literal> } = {
  ApprovalRequested: {
    type: 'approval.requested',
    keyOf: ({ approval_id: id }) => `approval:${id}`,
    messageOf: ({ approval_id, kind, action, object, requested_by }, { domain, at }) =>
      messageOf('approval.requested', at, {
        ...domain,
        path: `/v1/approvals/${approval_id}`,
        approval_id,
        kind,
        action,
        object,
        requested_by,
      }),
  },
  CapacityThresholdCrossed: {
    type: 'capacity.crossed',
    keyOf: ({ dimension }, { correlationId }) => `capacity:${dimension}:${correlationId}`,
    messageOf: ({ dimension }, { domain, at }) =>
      messageOf('capacity.crossed', at, {
        ...domain,
        path: `/v1/domains/${domain.domain_id}/capacity`,
        dimension,
      }),
  },
  IntegrityViolationOpened: {
    type: 'integrity.opened',
    keyOf: ({ violation_id: id }) => `integrity_violation:${id}`,
    messageOf: ({ violation_id, node_id, kind }, { domain, at, nameOf }) =>
      messageOf('integrity.opened', at, {
        ...domain,
        path: `/v1/integrity-violations/${violation_id}`,
        violation_id,
        kind,
        node_id,
        node_name: nameOf(node_id) ?? '',
      }),
  },
  RolloutHalted: {
    type: 'rollout.halted',
    keyOf: ({ rollout_id: id }) => `rollout:${id}`,
    messageOf: ({ rollout_id, slug, version }, { domain, at }) =>
      messageOf('rollout.halted', at, { ...domain, path: `/v1/rollouts/${rollout_id}`, rollout_id, slug, version }),
  },
}

/** An outbox event that becomes messages. */
export interface SourceEvent extends NumberedEvent {
  readonly event: Source
  readonly domainId: string
}

/** Whether an event becomes messages: it does where it belongs to a Domain. */
export function isSource(event: NumberedEvent): event is SourceEvent {
  return event.domainId !== null && Object.hasOwn(ROWS, event.event)
}

/** The node that a message of the event names; undefined where it names none. */
export function nodeOf({ payload }: SourceEvent): string | undefined {
  const { node_id: id } = payload as { readonly node_id?: unknown }
  return typeof id === 'string' ? id : undefined
}

/** The type of the event's messages, its key, and the message for a webhook. */
export function rowOf(event: SourceEvent): {
  readonly type: Message['type']
  readonly key: string
  readonly messageFor: (place: Place) => Message
} {
  // The key of the table is the literal, whose payload the emitter was held to.
  const row = ROWS[event.event] as Row<Source>
  const payload = event.payload as z.input<OutboxEvents[Source]['payload']> as never
  return { type: row.type, key: row.keyOf(payload, event), messageFor: (place) => row.messageOf(payload, place) }
}
