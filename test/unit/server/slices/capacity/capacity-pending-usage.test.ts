import { expect, test } from 'vitest'
import { createPendingUsage } from '../../../../../src/server/slices/capacity/pending-usage.ts'

test('counts are added up by Domain and dimension', () => {
  const usage = createPendingUsage()
  usage.count('sse_fanout', 'a', 1)
  usage.count('sse_fanout', 'a', 2)
  usage.count('observability_ingest', 'a', 5_000_000_000)
  usage.count('secret_reads', 'b', 1)
  expect(usage.pending()).toEqual([
    { domainId: 'a', dimension: 'sse_fanout', delta: 3 },
    { domainId: 'a', dimension: 'observability_ingest', delta: 5_000_000_000 },
    { domainId: 'b', dimension: 'secret_reads', delta: 1 },
  ])
})

test('what was written is taken off, and what was counted meanwhile stays', () => {
  const usage = createPendingUsage()
  usage.count('sse_fanout', 'a', 3)
  const deltas = usage.pending()
  usage.count('sse_fanout', 'a', 4)
  usage.count('secret_reads', 'a', 1)
  usage.written(deltas)
  expect(usage.pending()).toEqual([
    { domainId: 'a', dimension: 'sse_fanout', delta: 4 },
    { domainId: 'a', dimension: 'secret_reads', delta: 1 },
  ])
})

test('what could not be written is still pending, and added to', () => {
  const usage = createPendingUsage()
  usage.count('sse_fanout', 'a', 3)
  usage.pending()
  usage.count('sse_fanout', 'a', 4)
  expect(usage.pending()).toEqual([{ domainId: 'a', dimension: 'sse_fanout', delta: 7 }])
})

test('a Domain of which everything was written is forgotten', () => {
  const usage = createPendingUsage()
  usage.count('sse_fanout', 'a', 3)
  usage.written(usage.pending())
  expect(usage.pending()).toEqual([])
})
