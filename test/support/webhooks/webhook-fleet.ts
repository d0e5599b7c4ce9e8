import pino from 'pino'
import { vi } from 'vitest'
import type { Receiver } from './receiver.ts'
import { startReceiver } from './receiver.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'

type Body = Readonly<Record<string, unknown>>

/** A control plane that serves webhooks, a Domain with an administrator, and an endpoint on loopback that the server allows. */
export interface WebhookFleet extends Tenancy {
  readonly receiver: Receiver
  /** Warnings that the test expects. Others fail it when the fleet stops. */
  readonly expectedWarnings: Set<string>
  /** Creates a webhook to the endpoint of the fleet and returns the answer. */
  webhook(domainId: string, members?: Body): Promise<Body>
  /** Queues a message of an approval, as the consumer of the outbox does. Returns the id of the delivery. */
  queue(webhook: Body, key?: string): Promise<string>
  /** Passes of the worker that sends. */
  deliver(): Promise<boolean>
  delivery(webhook: Body, id: string): Promise<Body>
  /** Resolves when the delivery is in the state. */
  reached(webhook: Body, id: string, state: string): Promise<Body>
  shown(webhook: Body): Promise<Body>
}

export async function startWebhookFleet(store: TestStore): Promise<WebhookFleet> {
  const receiver = await startReceiver()
  const expectedWarnings = new Set<string>()
  const unexpected: string[] = []
  // An error that is thrown here would be lost in the code that logs. A busy database is not a finding: the worker
  // claims again at its next pass.
  const write = (line: string): void => {
    const { msg, err } = JSON.parse(line) as { msg?: unknown; err?: { failure?: unknown } }
    if (!expectedWarnings.has(String(msg)) && err?.failure !== 'unavailable') unexpected.push(line)
  }
  const tenancy = await startTenancy(store, {
    surfaces: ['webhooks'],
    log: pino({ level: 'warn' }, { write }),
    settings: { webhookAllowHosts: ['127.0.0.1'] },
  })
  const { root, db, ids, clock } = tenancy
  const must = async (operation: string, body?: unknown): Promise<Body> => {
    const answered = await tenancy.call(root, operation, body)
    if (answered.status >= 300) throw new Error(`${operation}: ${JSON.stringify(answered.body)}`)
    return answered.body
  }
  const delivery = async (webhook: Body, id: string): Promise<Body> => {
    const { items } = await must(`GET /v1/webhooks/${String(webhook['id'])}/deliveries?limit=200`)
    const found = (items as readonly Body[]).find((each) => each['id'] === id)
    if (found === undefined) throw new Error(`there is no delivery ${id}`)
    return found
  }
  return {
    ...tenancy,
    receiver,
    expectedWarnings,
    webhook: (domainId, members = {}) =>
      must(`POST /v1/domains/${domainId}/webhooks`, {
        url: `${receiver.url}/${ids.next()}`,
        events: ['approval.requested'],
        ...members,
      }),
    async queue(webhook, key = ids.next()) {
      const id = ids.next()
      const at = new Date(clock.nowMs)
      const message = JSON.stringify({ type: 'approval.requested', timestamp: at.toISOString(), data: { key } })
      await db
        .insertInto('webhook_deliveries')
        .values({
          id,
          webhook_id: String(webhook['id']),
          type: 'approval.requested',
          event_key: key,
          message,
          state: 'pending',
          next_attempt_at: at,
          created_at: at,
        })
        .execute()
      return id
    },
    deliver: () => tenancy.runJob('webhook-deliveries'),
    delivery,
    reached: (webhook, id, state) =>
      vi.waitFor(
        async () => {
          const found = await delivery(webhook, id)
          if (found['state'] !== state) throw new Error(`it is ${String(found['state'])}: ${JSON.stringify(found)}`)
          return found
        },
        { timeout: 20_000, interval: 20 },
      ),
    shown: (webhook) => must(`GET /v1/webhooks/${String(webhook['id'])}`),
    async stop() {
      await receiver.stop()
      await tenancy.stop()
      if (unexpected.length > 0) throw new Error(`unexpected warnings: ${unexpected.join('')}`)
    },
  }
}
