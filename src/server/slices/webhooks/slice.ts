import type { Logger } from 'pino'
import type { Slice } from '../../http/slice.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { createEndpointRules } from './endpoint.ts'
import { createNodeWatch } from './node-watch.ts'
import { createWebhookConsumer } from './outbox-consumer.ts'
import { createSend } from './sender.ts'
import { createWebhooks } from './service.ts'
import { createSettle } from './settle.ts'
import { createWebhookSweepers } from './sweepers.ts'
import { createTestRuns } from './test-runs.ts'
import { createTokenWatch } from './token-watch.ts'
import { createDeliveryWorker } from './worker.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

interface WebhooksPorts {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdSource
  readonly sealing: Sealing
  readonly log: Logger
  /** Waits 15 s for an answer. */
  readonly webhookFetch: OutgoingFetch
  /** Hosts of endpoints that may be in a private network. */
  readonly webhookAllowHosts: readonly string[]
  /** Whether endpoints may be on this machine: a server for development. */
  readonly webhookAllowsLoopback: boolean
}

/** Webhooks: what happens in a Domain, sent to endpoints by Standard Webhooks. */
export function createSlice({
  log,
  webhookAllowHosts,
  webhookAllowsLoopback,
  ...ports
}: WebhooksPorts): Slice<'webhooks'> {
  const { clock } = ports
  const rules = createEndpointRules({ webhookAllowHosts, allowsLoopback: webhookAllowsLoopback })
  const send = createSend({
    ...ports,
    rules,
    elapsedMs: () => performance.now(),
    onUnsigned: (id) =>
      log.error({ webhook_id: id }, 'a message was not sent: no signing key of its webhook can be opened'),
  })
  const settle = createSettle({
    ...ports,
    random: Math.random,
    onDisabled: ({ id, domainId, reason }) =>
      log.info({ webhook_id: id, domain_id: domainId, reason }, 'a webhook was disabled because of its endpoint'),
  })
  const testRuns = createTestRuns({ ...ports, send, settle })
  const worker = createDeliveryWorker({
    ...ports,
    send,
    settle,
    onFailure: (error, deliveryId) =>
      log.warn({ err: error, delivery_id: deliveryId }, 'a webhook could not be delivered; it will be tried again'),
  })
  const nodeWatch = createNodeWatch(ports)
  return {
    handlers: { webhooks: createWebhooks({ ...ports, rules, testRuns }) },
    jobs: [worker.job, nodeWatch.job, createTokenWatch(ports), ...createWebhookSweepers(clock)],
    consumers: [createWebhookConsumer({ ...ports, nodeWatch })],
    // Requests are waited for before anything is flushed: a test holds one of them.
    drain: () => testRuns.stop(),
    flush: () => worker.stop(),
  }
}
