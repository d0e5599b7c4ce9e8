import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../support/run/depth.ts'
import { addNodes } from '../support/fleet/many-nodes.ts'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { startObservedFleet, type ObservedFleet } from '../support/fleet/observed-fleet.ts'
import { STORES } from '../support/datastores/stores.ts'

const HOSTS = ['198.51.100.1', '198.51.100.2'] as const
const TTLS = [30, 60, 300] as const

/** One thing that happens; ages are ms before now. */
type Step =
  | { readonly does: 'report'; readonly node: number; readonly host: number; readonly ageMs: number }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'sweep' }
  | { readonly does: 'hold'; readonly seconds: number }

const NODES = 3

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        does: fc.constant('report' as const),
        node: fc.nat(NODES - 1),
        host: fc.nat(HOSTS.length - 1),
        ageMs: fc.constantFrom(0, 0, 0, 1, 1_000, 30_000, 30_001, 60_000, 60_001, -1, -60_000, -60_001),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('wait' as const),
        ms: fc.constantFrom(1, 1_000, 29_999, 30_000, 30_001, 60_000, 300_001),
      }),
    },
    { weight: 4, arbitrary: fc.constant({ does: 'sweep' } as const) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('hold' as const), seconds: fc.constantFrom(...TTLS) }) },
  ),
  { minLength: 4, maxLength: 24 },
)

/** What is known of one node, by S0 and nothing else. */
interface Endpoint {
  readonly host: string
  readonly reportedAtMs: number
  isStale: boolean
}

/** All that there is: endpoints by node, what was told of them, and how often something was. */
interface Model {
  readonly endpoints: Map<number, Endpoint>
  readonly told: string[]
  changes: number
  ttlMs: number
}

/** What a report is answered with; the model goes on to what is then. */
function reported(model: Model, { node, host, ageMs }: Extract<Step, { does: 'report' }>, nowMs: number): unknown {
  if (ageMs > model.ttlMs || Math.abs(ageMs) > 60_000) return 'endpoint_clock_skew'
  const reportedAtMs = nowMs - ageMs
  const known = model.endpoints.get(node)
  const address = HOSTS[host] ?? HOSTS[0]
  if (known === undefined || known.reportedAtMs < reportedAtMs) {
    model.endpoints.set(node, { host: address, reportedAtMs, isStale: false })
    if (known?.host !== address || known.isStale) {
      model.told.push(`${node} ${address}:1`)
      model.changes += 1
    }
  }
  const heldFromMs = Math.max(reportedAtMs, known?.reportedAtMs ?? reportedAtMs)
  return { accepted_at: iso(nowMs), stale_after: iso(heldFromMs + model.ttlMs) }
}

/** A sweep is one change, of however many endpoints. */
function swept(model: Model, nowMs: number): void {
  const overdue = [...model.endpoints]
    .filter(([, { isStale, reportedAtMs }]) => !isStale && nowMs - reportedAtMs > model.ttlMs)
    .toSorted(([one], [other]) => one - other)
  for (const [node, endpoint] of overdue) {
    endpoint.isStale = true
    model.told.push(`${node} `)
  }
  if (overdue.length > 0) model.changes += 1
}

const iso = (ms: number): string => new Date(ms).toISOString()

describe.each(STORES)('The endpoints of a Domain on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: ObservedFleet
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
    })
    afterAll(() => fleet?.stop())

    /** Takes a step here and in the model, and answers what came of it in both. */
    async function take(step: Step, model: Model, nodes: readonly Enrolled[]): Promise<readonly [unknown, unknown]> {
      const { clock } = fleet
      const [first] = nodes
      if (first === undefined) throw new Error('there are no nodes')
      if (step.does === 'wait') clock.nowMs += step.ms
      if (step.does === 'sweep') {
        swept(model, clock.nowMs)
        await fleet.sweep()
      }
      if (step.does === 'hold') {
        model.ttlMs = step.seconds * 1000
        await fleet.holdFor(first.domain_id, step.seconds)
      }
      if (step.does !== 'report') return [0, 0]
      const members = { reported_at: fleet.instant(-step.ageMs) }
      const { status, body } = await fleet.endpoint(nodes[step.node] ?? first, `${HOSTS[step.host]}:1`, members)
      return [status === 200 ? body : body['code'], reported(model, step, clock.nowMs)]
    }

    async function stored(nodes: readonly Enrolled[]) {
      const rows = await Promise.all(nodes.map(({ node_id }) => fleet.storedEndpoint(node_id)))
      return rows.map(
        (row) =>
          row && {
            host: row['last_endpoint'],
            reportedAt: row['last_endpoint_reported_at'],
            isStale: row['last_endpoint_stale_at'] !== null,
          },
      )
    }

    /** What peers were told, each node by its place. */
    async function told(nodes: readonly Enrolled[]): Promise<string[]> {
      return (await fleet.endpointNews()).map(({ payload }) => {
        const { node_id, endpoint } = payload as { node_id: string; endpoint: string }
        return `${nodes.findIndex((node) => node.node_id === node_id)} ${endpoint}`
      })
    }

    it('are what their reports, the time and the sweeps make of them, and peers hear of each change', async () => {
      const seen = new Set<string>()
      const walk = fc.asyncProperty(steps, async (taken) => {
        await fleet.db.deleteFrom('nodes').execute()
        const domain = await fleet.domain()
        const nodes = await addNodes(fleet, domain, NODES)
        await fleet.db.deleteFrom('outbox').execute()
        const model: Model = { endpoints: new Map(), told: [], changes: 0, ttlMs: 300_000 }
        for (const step of taken) {
          const [actual, expected] = await take(step, model, nodes)
          expect(actual, JSON.stringify({ step, taken })).toEqual(expected)
          seen.add(typeof actual === 'string' ? actual : step.does)
        }
        const expected = nodes.map((_, node) => {
          const endpoint = model.endpoints.get(node)
          return (
            endpoint && {
              host: endpoint.host,
              reportedAt: new Date(endpoint.reportedAtMs),
              isStale: endpoint.isStale,
            }
          )
        })
        expect(await stored(nodes), JSON.stringify(taken)).toEqual(expected)
        expect(await told(nodes), JSON.stringify(taken)).toEqual(model.told)
        expect(await fleet.revision(domain), JSON.stringify(taken)).toBe(model.changes)
        if (model.told.some((line) => line.endsWith(' '))) seen.add('tombstone')
      })
      await fc.assert(walk, { numRuns: depth({ ci: 40, deep: 1_000 }), ...depth({ ci: { seed: 34 }, deep: {} }) })
      expect([...seen].toSorted()).toEqual(['endpoint_clock_skew', 'hold', 'report', 'sweep', 'tombstone', 'wait'])
    }, 300_000)
  })
})
