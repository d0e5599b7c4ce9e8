import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { startTriagedFleet, type TriagedFleet } from '../support/fleet/triaged-fleet.ts'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { takeTurn, wordOf, type Modelled, type Turn } from '../support/run/interleavings.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const NODES = 2
/** What a node may observe, each another violation. */
const OBSERVED = ['cd', 'ef'] as const
const QUIET_MS = 120_000

/** One thing that somebody does. */
type Step =
  | { readonly does: 'report' | 'acknowledge'; readonly node: number; readonly observed: number }
  /** One batch with both violations. */
  | { readonly does: 'reportBoth' | 'beat' | 'deregister'; readonly node: number }
  | { readonly does: 'resolve' }
  | { readonly does: 'wait'; readonly seconds: number }

interface ModelRow {
  readonly node: number
  readonly observed: number
  readonly status: 'open' | 'acknowledged' | 'resolved'
  readonly occurrences: number
  readonly reportedMs: number
}

/** What is known of everything, by S1 and nothing else. */
interface Model {
  readonly nowMs: number
  /** When each node last reported the expected value; undefined before, null when the node is gone. */
  readonly nodes: readonly (number | null | undefined)[]
  /** In the order in which they were opened. */
  readonly rows: readonly ModelRow[]
}

function says(model: Model, step: Step): readonly [Model, string] {
  if (step.does === 'wait') return [{ ...model, nowMs: model.nowMs + step.seconds * 1000 }, 'waited']
  if (step.does === 'resolve') return [resolved(model), 'resolved']
  if (step.does === 'acknowledge') return acknowledged(model, step)
  if (model.nodes[step.node] === null) return [model, 'gone']
  if (step.does === 'beat') return [withNode(model, step.node, model.nowMs), '200']
  if (step.does === 'deregister') return [withNode(model, step.node, null), '204']
  const observed = step.does === 'report' ? [step.observed] : OBSERVED.map((_, at) => at)
  return [observed.reduce((then, each) => reported(then, step.node, each), model), '202']
}

function withNode(model: Model, changed: number, to: number | null): Model {
  return { ...model, nodes: model.nodes.map((each, at) => (at === changed ? to : each)) }
}

function reported({ rows, ...model }: Model, node: number, observed: number): Model {
  const at = rows.findIndex((row) => isOf(row, { node, observed }) && row.status !== 'resolved')
  const known = rows[at]
  if (known === undefined) {
    const row = { node, observed, status: 'open', occurrences: 1, reportedMs: model.nowMs } as const
    return { ...model, rows: [...rows, row] }
  }
  const next = { ...known, occurrences: known.occurrences + 1, reportedMs: model.nowMs }
  return { ...model, rows: rows.with(at, next) }
}

/** The newest row of what a node observes is meant. */
function acknowledged(model: Model, of: { node: number; observed: number }): readonly [Model, string] {
  const at = model.rows.findLastIndex((row) => isOf(row, of))
  const row = model.rows[at]
  if (row === undefined) return [model, 'integrity_violation_not_found']
  if (row.status !== 'open') return [model, 'illegal_transition']
  return [{ ...model, rows: model.rows.with(at, { ...row, status: 'acknowledged' }) }, '200']
}

function isOf(row: ModelRow, { node, observed }: { readonly node: number; readonly observed: number }): boolean {
  return row.node === node && row.observed === observed
}

function resolved(model: Model): Model {
  const isOver = ({ node, reportedMs }: ModelRow): boolean => {
    const expectedMs = model.nodes[node]
    if (expectedMs === null) return true
    return expectedMs !== undefined && reportedMs + QUIET_MS <= expectedMs
  }
  const rows = model.rows.map((row): ModelRow =>
    row.status === 'acknowledged' && isOver(row) ? { ...row, status: 'resolved' } : row,
  )
  return { ...model, rows }
}

/** Rows of different nodes have no order of their own. */
function shows({ rows }: Model) {
  return rows
    .map(({ node, observed, status, occurrences, reportedMs }) => [node, observed, status, occurrences, reportedMs])
    .map((row, at) => ({ row, at }))
    .toSorted(
      (one, other) =>
        Number(one.row[0]) - Number(other.row[0]) || Number(one.row[1]) - Number(other.row[1]) || one.at - other.at,
    )
    .map(({ row }) => row)
}

const node = fc.nat(NODES - 1)
const observed = fc.nat(OBSERVED.length - 1)
type OnOne = Extract<Step, { does: 'report' | 'acknowledge' }>
const on = (does: OnOne['does']): fc.Arbitrary<OnOne> => fc.record({ does: fc.constant(does), node, observed })
const atOnce: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: on('report') },
  { weight: 8, arbitrary: on('acknowledge') },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('beat' as const), node }) },
  { weight: 6, arbitrary: fc.constant({ does: 'resolve' } as const) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('deregister' as const), node }) },
)
/** A batch is one transaction and a pass of the leader looks at each row alone, so that these two do not meet here. */
const alone: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reportBoth' as const), node }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('wait' as const), seconds: fc.constantFrom(1, 60, 120) }) },
)
/** Two who meet at one violation. */
const onTheSame: fc.Arbitrary<Turn<Step>> = fc
  .tuple(fc.oneof(on('report'), on('acknowledge')), fc.constantFrom<OnOne['does']>('report', 'acknowledge'))
  .map(([one, does]) => [one, { ...one, does }])
const turns: fc.Arbitrary<Turn<Step>[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(atOnce) },
    { weight: 4, arbitrary: fc.tuple(atOnce, atOnce) },
    { weight: 3, arbitrary: onTheSame },
    { weight: 4, arbitrary: fc.tuple(alone) },
  ),
  { minLength: 10, maxLength: 40 },
)

describe.each(STORES)('The states of integrity violations on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: TriagedFleet
    beforeAll(async () => {
      fleet = await startTriagedFleet(store)
    })
    afterAll(() => fleet?.stop())

    async function walkedBy(): Promise<Modelled<Model, Step> & { readonly start: Model }> {
      const { clock, root, db } = fleet
      const domain = await fleet.domain()
      const nodes: Enrolled[] = []
      for (let n = 0; n < NODES; n++) nodes.push(await fleet.enrol(domain))
      await db.deleteFrom('node_integrity_violations').execute()
      const nodeAt = (n: number): Enrolled => nodes[n] as Enrolled
      const checksumOf = (at: number): string => (OBSERVED[at] ?? '').repeat(32)

      async function newest(of: { readonly node: number; readonly observed: number }): Promise<string> {
        const row = await db
          .selectFrom('node_integrity_violations')
          .select('id')
          .where('node_id', '=', nodeAt(of.node).node_id)
          .where('observed_checksum', '=', Buffer.from(checksumOf(of.observed), 'hex'))
          .orderBy('id', 'desc')
          .executeTakeFirst()
        return row?.id ?? NOWHERE
      }

      async function reportBoth(reporter: Enrolled) {
        const violations = OBSERVED.map((_, at) => ({
          kind: 'binary',
          artifact: '/usr/bin/agent',
          expected_checksum: 'ab'.repeat(32),
          observed_checksum: checksumOf(at),
          detected_at: new Date(clock.nowMs).toISOString(),
        }))
        return fleet.call(reporter.nsk, `POST /v1/nodes/${reporter.node_id}/integrity-violations`, { violations })
      }

      return {
        start: { nowMs: clock.nowMs, nodes: nodes.map(() => undefined), rows: [] },
        says,
        shows,
        async does(step) {
          if (step.does === 'wait') {
            fleet.wait(step.seconds * 1000)
            return 'waited'
          }
          if (step.does === 'resolve') {
            await fleet.resolve()
            return 'resolved'
          }
          if (step.does === 'acknowledge') return wordOf(await fleet.acknowledge(root, await newest(step)))
          const reporter = nodeAt(step.node)
          if (step.does === 'beat') return wordOf(await fleet.beat(reporter))
          if (step.does === 'deregister') return wordOf(await fleet.call(root, `DELETE /v1/nodes/${reporter.node_id}`))
          if (step.does === 'report')
            return wordOf(await fleet.report(reporter, { observed_checksum: checksumOf(step.observed) }))
          return wordOf(await reportBoth(reporter))
        },
        async looks() {
          const rows = await db
            .selectFrom('node_integrity_violations')
            .select(['node_id', 'observed_checksum', 'status', 'occurrences', 'last_accepted_at'])
            .orderBy('id')
            .execute()
          return shows({
            nowMs: clock.nowMs,
            nodes: [],
            rows: rows.map((row) => ({
              node: nodes.findIndex(({ node_id }) => node_id === row.node_id),
              observed: OBSERVED.findIndex((_, at) => row.observed_checksum?.toString('hex') === checksumOf(at)),
              status: row.status,
              occurrences: Number(row.occurrences),
              reportedMs: row.last_accepted_at.getTime(),
            })),
          })
        },
      }
    }

    it('are those of the model, whatever anybody does in whatever order or at once', async () => {
      const seen = new Set<string>()
      const states = new Set<string>()
      const walk = fc.asyncProperty(turns, async (taken) => {
        const system = await walkedBy()
        let model = system.start
        for (const turn of taken) {
          const took = await takeTurn(system, model, turn)
          model = took.model
          for (const answer of took.answers) seen.add(answer)
          for (const { status } of model.rows) states.add(status)
        }
      })
      await fc.assert(walk, { numRuns: depth({ ci: 12, deep: 400 }), ...depth({ ci: { seed: 1 }, deep: {} }) })
      expect([...seen].toSorted()).toEqual([
        '200',
        '202',
        '204',
        'gone',
        'illegal_transition',
        'integrity_violation_not_found',
        'resolved',
        'waited',
      ])
      expect([...states].toSorted()).toEqual(['acknowledged', 'open', 'resolved'])
    })
  })
})
