import { beforeEach, expect, test } from 'vitest'
import type {
  CapacityDimension,
  CountedDimension,
  LevelDimension,
} from '../../../../../src/shared/capacity/dimensions.ts'
import { createDomainMonitor, type DomainMonitor } from '../../../../../src/server/slices/capacity/domain-monitor.ts'

let monitor: DomainMonitor
let elapsedMs: number
beforeEach(() => {
  monitor = createDomainMonitor()
  elapsedMs = 0
})

interface Sampled {
  readonly domains?: readonly string[]
  readonly levels?: Partial<Record<LevelDimension, number>>
  readonly totals?: Partial<Record<CountedDimension, bigint>> | 'unread'
  readonly target?: number
}

const mapOf = <Key extends string, Value>(values: Partial<Record<Key, Value>>) =>
  new Map(Object.entries(values) as [Key, Value][])

/** Takes a sample 10 s after the last one, of the Domain `a` unless others are named. */
function sample({ domains = ['a'], levels = {}, totals = {}, target = 100 }: Sampled) {
  elapsedMs += 10_000
  const of = <Key extends string, Value>(values: Partial<Record<Key, Value>>) =>
    new Map(domains.map((id) => [id, mapOf(values)]))
  const found = {
    domainIds: domains,
    levels: of(levels),
    totals: totals === 'unread' ? undefined : of(totals),
    targetOf: () => target,
  }
  return monitor.observe(found, { nowMs: elapsedMs, elapsedMs })
}

const useOf = (dimension: CapacityDimension, domainId = 'a') =>
  monitor.of(domainId)?.dimensions.find((one) => one.dimension === dimension)

test('a restart over the threshold fires one crossing on the first sample of a level', () => {
  expect(sample({ levels: { nodes: 90 } })).toEqual([{ domainId: 'a', dimension: 'nodes', isFirst: true }])
  expect(sample({ levels: { nodes: 95 } })).toEqual([])
  expect(useOf('nodes')).toMatchObject({ used: 95, ratio: 0.95, isOver: true, crossings: 1 })
})

test('a restart over the threshold fires one crossing with the first rate that is measured', () => {
  expect(sample({ totals: { sse_fanout: 0n } })).toEqual([])
  expect(sample({ totals: { sse_fanout: 900n } })).toEqual([{ domainId: 'a', dimension: 'sse_fanout', isFirst: true }])
  expect(useOf('sse_fanout')).toMatchObject({ used: 90, isOver: true })
})

test('a crossing after a sample below the threshold is no first one', () => {
  sample({ levels: { nodes: 10 } })
  expect(sample({ levels: { nodes: 80 } })).toEqual([{ domainId: 'a', dimension: 'nodes', isFirst: false }])
})

test('without a flush rates, their times and their states stay, and levels go on', () => {
  sample({ totals: { sse_fanout: 0n } })
  sample({ totals: { sse_fanout: 100n } })
  sample({ totals: 'unread', levels: { nodes: 7 } })
  expect(useOf('sse_fanout')?.used).toBe(10)
  expect(useOf('nodes')?.used).toBe(7)
  // 300 more in the 20 s since the last reading.
  sample({ totals: { sse_fanout: 400n } })
  expect(useOf('sse_fanout')?.used).toBe(15)
})

test('a Domain has no sample until every dimension has one', () => {
  sample({ totals: 'unread' })
  expect(monitor.of('a')).toBeUndefined()
  expect(monitor.all()).toEqual([])
  sample({})
  expect(monitor.of('a')?.dimensions.map(({ dimension }) => dimension)).toEqual([
    'nodes',
    'sse_fanout',
    'secret_reads',
    'mediated_sessions',
    'observability_ingest',
    'action_executions',
  ])
})

test('a Domain that is gone leaves nothing, and one of its id would begin again', () => {
  sample({ levels: { nodes: 90 } })
  sample({ domains: [] })
  expect(monitor.all()).toEqual([])
  expect(sample({ levels: { nodes: 90 } })).toHaveLength(1)
  expect(useOf('nodes')?.crossings).toBe(1)
})

test('without a target there is no ratio, and a target that comes back fires again', () => {
  sample({ levels: { nodes: 90 } })
  sample({ levels: { nodes: 90 }, target: 0 })
  expect(useOf('nodes')).toMatchObject({ used: 90, target: 0, ratio: null, isOver: false })
  expect(sample({ levels: { nodes: 90 } })).toEqual([{ domainId: 'a', dimension: 'nodes', isFirst: false }])
})

test('days until full follow from growth for levels alone', () => {
  sample({ levels: { nodes: 40 }, totals: { sse_fanout: 0n } })
  monitor.grown(new Map([['a', new Map([['nodes', 6]])]]))
  expect(useOf('nodes')?.daysUntilFull).toBe(10)
  expect(useOf('sse_fanout')?.daysUntilFull).toBeNull()
  expect(useOf('action_executions')?.daysUntilFull).toBeNull()
})
