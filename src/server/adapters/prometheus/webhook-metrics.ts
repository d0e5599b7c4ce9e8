import { Gauge, type Registry } from 'prom-client'

/** The webhooks of all Domains. */
export interface WebhookState {
  readonly pending: number
  /** Webhooks to which nothing is sent, by why. */
  readonly disabled: Readonly<Record<string, number>>
}

/**
 * Registers the gauges of webhooks, which are the same in every replica. They have no value while the datastore is unavailable; a
 * probe reports that outage.
 *
 * @param state undefined until the datastore is open.
 */
export function createWebhookMetrics(registry: Registry, state: () => Promise<WebhookState | undefined>): void {
  let running: Promise<WebhookState | undefined> | undefined
  /** Both gauges are read at once: one look serves them. */
  const look = (): Promise<WebhookState | undefined> => {
    running ??= state()
      .catch(() => undefined)
      .finally(() => {
        running = undefined
      })
    return running
  }
  registry.registerMetric(
    new Gauge({
      name: 'webhook_deliveries_pending',
      help: 'Messages that wait for an endpoint of a webhook (counted up to 100000)',
      registers: [],
      async collect() {
        const found = await look()
        // A reset would set it to 0.
        if (found === undefined) this.remove()
        else this.set(found.pending)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'webhooks_disabled',
      help: 'Webhooks to which nothing is sent: gone (410), failing (five days of failures) or requested',
      labelNames: ['reason'],
      registers: [],
      async collect() {
        const found = await look()
        this.reset()
        for (const [reason, count] of Object.entries(found?.disabled ?? {})) this.set({ reason }, count)
      },
    }),
  )
}
