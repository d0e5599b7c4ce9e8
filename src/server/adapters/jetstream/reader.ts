import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import { createInbox, nanos, type Msg } from '@nats-io/transport-node'
import type { BusEvent, EventBus, KeptEvent, StreamBounds } from '../../ports/event-bus.ts'
import { REQUEST_MS } from './connect.ts'
import type { StreamConnection } from './stream-connection.ts'
import { eventOf } from './messages.ts'
import { streamOf, subjectOf } from './names.ts'
import { deliveryPositionOf } from './delivery-position.ts'
import { readStream, type Incarnation } from './stream.ts'

/** Up to this number, single reads cost the server less than a consumer; a longer range is read by a consumer. */
const SINGLES_MAX = 20
const INACTIVE_MS = 10_000

type Range = Parameters<EventBus['read']>[1]

/** Reads stored messages from the leader of the stream: a replica may lack messages that the head already counts. */
export function createReader(nats: StreamConnection) {
  const { connection, manager, env } = nats
  const name = streamOf(env)

  type Query = { readonly last_by_subj: string } | { readonly seq: number; readonly next_by_subj: string }

  async function get(query: Query, { base }: Incarnation): Promise<BusEvent | undefined> {
    const found = await manager.streams.getMessage(name, query)
    if (found === null) return undefined
    return eventOf({ subject: found.subject, streamSeq: found.seq, headers: found.header, data: found.data }, base)
  }

  function newestOf(nodeId: string, stream: Incarnation): Promise<BusEvent | undefined> {
    return get({ last_by_subj: subjectOf(env, nodeId) }, stream)
  }

  async function boundsOf(nodeId: string, stream: Incarnation): Promise<StreamBounds> {
    // Read first: the node's messages up to it then exist when the node's own ends are read.
    const { base, lastSeq } = await readStream(manager, env)
    const head = base + BigInt(lastSeq)
    const newest = await newestOf(nodeId, stream)
    if (newest === undefined) return { head, oldest: undefined, newest: undefined }
    const oldest = await get({ seq: 1, next_by_subj: subjectOf(env, nodeId) }, stream)
    return { head: head > newest.seq ? head : newest.seq, oldest: endOf(oldest ?? newest), newest: endOf(newest) }
  }

  async function readNode(nodeId: string, { after, upTo, max }: Range, stream: Incarnation): Promise<BusEvent[]> {
    const { base } = stream
    const events: BusEvent[] = []
    const subject = subjectOf(env, nodeId)
    let last = after > base ? after : base
    while (events.length < Math.min(max, SINGLES_MAX) && last < upTo) {
      const next = await get({ seq: Number(last - base) + 1, next_by_subj: subject }, stream)
      if (next === undefined || next.seq > upTo) return events
      events.push(next)
      last = next.seq
    }
    if (events.length === max || last >= upTo) return events
    const rest = await fetchRange({ subject, after: Number(last - base), max: max - events.length }, stream)
    return [...events, ...rest.filter(({ seq }) => seq <= upTo)]
  }

  /** Reads up to `max` messages of a subject by a temporary consumer. */
  async function fetchRange(
    { subject, after, max }: { readonly subject: string; readonly after: number; readonly max: number },
    stream: Incarnation,
  ): Promise<BusEvent[]> {
    const consumer = await manager.consumers.add(name, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: after + 1,
      filter_subject: subject,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
      num_replicas: 1,
    })
    try {
      const count = Math.min(max, consumer.num_pending)
      const messages = count === 0 ? [] : await pull(consumer.name, count)
      return messages.flatMap((message) => {
        const { streamSeq } = deliveryPositionOf(message)
        const { headers, data } = message
        return eventOf({ subject: message.subject, streamSeq, headers, data }, stream.base) ?? []
      })
    } finally {
      manager.consumers.delete(name, consumer.name).catch(() => undefined)
    }
  }

  function pull(consumer: string, count: number): Promise<Msg[]> {
    const inbox = createInbox()
    const messages: Msg[] = []
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(new Error('the stream did not answer in time')), REQUEST_MS)
      const subscription = connection.subscribe(inbox, {
        callback(error, message) {
          if (error !== null) return settle(error)
          // 404 and 408: some of the counted messages were pruned meanwhile.
          if ((message.headers?.code ?? 0) !== 0) return settle()
          messages.push(message)
          if (messages.length === count) settle()
        },
      })
      function settle(error?: Error): void {
        clearTimeout(timer)
        subscription.unsubscribe()
        if (error === undefined) resolve(messages)
        else reject(error)
      }
      const wanted = JSON.stringify({ batch: count, no_wait: true })
      connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${name}.${consumer}`, wanted, { reply: inbox })
    })
  }

  return {
    newest: newestOf,
    bounds: (nodeId: string) => nats.ask((stream) => boundsOf(nodeId, stream)),
    readNode,
    read: (nodeId: string, range: Range) => nats.ask((stream) => readNode(nodeId, range, stream)),
  }
}

export type Reader = ReturnType<typeof createReader>

function endOf({ seq, nodeSeq }: BusEvent): KeptEvent {
  return { seq, nodeSeq }
}
