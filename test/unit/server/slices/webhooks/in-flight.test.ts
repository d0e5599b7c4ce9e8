import { describe, expect, it } from 'vitest'
import type { DueDelivery } from '../../../../../src/server/slices/webhooks/claims-store.ts'
import { createInFlight } from '../../../../../src/server/slices/webhooks/in-flight.ts'

let made = 0
const due = (webhook: string, domain: string, failures = 0): DueDelivery => ({
  id: `delivery-${(made += 1)}`,
  webhook_id: webhook,
  domain_id: domain,
  url: 'https://hooks.acme.example',
  type: 'ctl.test',
  message: '{}',
  tries: 0,
  failures,
})
const many = (count: number, each: (index: number) => DueDelivery) => Array.from({ length: count }, (_, n) => each(n))
const never = () => new Promise<void>(() => undefined)

describe('Attempts at once', () => {
  it('are two to a webhook, and one to one whose last attempt failed', () => {
    const inFlight = createInFlight()
    expect(inFlight.choose(many(5, () => due('w', 'd')))).toHaveLength(2)
    expect(inFlight.choose(many(5, () => due('w', 'd', 1)))).toHaveLength(1)
  })

  it('are eight in a Domain, so that others have room', () => {
    const inFlight = createInFlight()
    const chosen = inFlight.choose([...many(20, (n) => due(`w${n}`, 'busy')), due('other', 'calm')])
    expect(chosen.map(({ domain_id: id }) => id)).toEqual(
      [...many(8, () => due('', 'busy')), due('', 'calm')].map((d) => d.domain_id),
    )
    for (const each of chosen) void inFlight.run(each, never)
    expect(inFlight.room().busyDomains).toEqual(['busy'])
  })

  it('are 64 in all', () => {
    const inFlight = createInFlight()
    const chosen = inFlight.choose(many(100, (n) => due(`w${n}`, `d${n}`)))
    expect(chosen).toHaveLength(64)
    for (const each of chosen) void inFlight.run(each, never)
    expect(inFlight.isFull()).toBe(true)
    expect(inFlight.choose([due('w', 'd')])).toEqual([])
  })

  it('give their room back when they end', async () => {
    const inFlight = createInFlight()
    let end = (): void => undefined
    const ended = inFlight.run(due('w', 'd'), () => new Promise<void>((resolve) => (end = resolve)))
    void inFlight.run(due('w', 'd'), async () => undefined)
    expect(inFlight.room()).toMatchObject({ max: 62, busyWebhooks: ['w'] })
    end()
    await ended
    await inFlight.ended()
    expect(inFlight.room()).toEqual({
      max: 64,
      maxOfWebhook: 2,
      busyWebhooks: [],
      sendingWebhooks: [],
      busyDomains: [],
    })
  })

  it('keep what waits for a failing webhook out of the next query from the first one on', () => {
    const inFlight = createInFlight()
    void inFlight.run(due('w', 'd', 1), never)
    expect(inFlight.room()).toMatchObject({ busyWebhooks: [], sendingWebhooks: ['w'] })
  })
})
