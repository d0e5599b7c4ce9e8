import { expect, test } from 'vitest'
import { createRequestMetrics } from '../../../../../src/server/adapters/prometheus/request-metrics.ts'

test('requests are counted by operation and status, their times in cumulative buckets', () => {
  const metrics = createRequestMetrics()
  metrics.observe('GetNode', 200, 0.001)
  metrics.observe('GetNode', 200, 0.03)
  metrics.observe('GetNode', 404, 31)
  metrics.observe('PatchNode', 200, 0.5)
  const lines = metrics.text().split('\n')
  expect(lines).toContain('http_requests_total{operation="GetNode",status="200"} 2')
  expect(lines).toContain('http_requests_total{operation="GetNode",status="404"} 1')
  expect(lines).toContain('http_requests_total{operation="PatchNode",status="200"} 1')
  const buckets = lines.filter((line) => line.includes('_bucket') && line.includes('GetNode'))
  expect(buckets.map((line) => line.slice(line.indexOf('le=')))).toEqual([
    'le="0.001",operation="GetNode"} 1',
    'le="0.0025",operation="GetNode"} 1',
    'le="0.005",operation="GetNode"} 1',
    'le="0.01",operation="GetNode"} 1',
    'le="0.025",operation="GetNode"} 1',
    'le="0.05",operation="GetNode"} 2',
    'le="0.1",operation="GetNode"} 2',
    'le="0.25",operation="GetNode"} 2',
    'le="0.5",operation="GetNode"} 2',
    'le="1",operation="GetNode"} 2',
    'le="2.5",operation="GetNode"} 2',
    'le="5",operation="GetNode"} 2',
    'le="10",operation="GetNode"} 2',
    'le="30",operation="GetNode"} 2',
    'le="+Inf",operation="GetNode"} 3',
  ])
  expect(lines).toContain('http_request_duration_seconds_sum{operation="GetNode"} 31.031')
  expect(lines).toContain('http_request_duration_seconds_count{operation="GetNode"} 3')
})

test('every family is announced once, and the text ends with a line break', () => {
  const text = createRequestMetrics().text()
  expect(text.match(/^# TYPE .*$/gm)).toEqual([
    '# TYPE http_requests_total counter',
    '# TYPE http_request_duration_seconds histogram',
  ])
  expect(text.endsWith('\n')).toBe(true)
})
