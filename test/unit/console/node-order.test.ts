import { describe, expect, test } from 'vitest'
import type { NodeSummary } from '../../../src/console/api/operations.ts'
import { nextOrder, nodeOrder, sortedNodes } from '../../../src/console/model/node-order.ts'
import { asTyped } from '../../../src/console/model/typed.ts'

describe('the order of nodes', () => {
  const nodeOf = (members: Partial<NodeSummary>): NodeSummary => members as NodeSummary
  const nodes = [
    nodeOf({ display_name: 'web-10', reachability: 'stale', binary_version: null, last_heartbeat_at: null }),
    nodeOf({
      display_name: 'web-2',
      reachability: 'unreachable',
      binary_version: '1.10.0',
      last_heartbeat_at: '2026-02-01T10:00:00Z',
    }),
    nodeOf({
      display_name: 'db',
      reachability: 'healthy',
      binary_version: '1.9.0',
      last_heartbeat_at: '2026-02-01T12:00:00Z',
    }),
  ]

  test.each([
    [undefined, ['db', 'web-2', 'web-10']],
    ['nonsense', ['db', 'web-2', 'web-10']],
    ['-name', ['web-10', 'web-2', 'db']],
    ['state', ['db', 'web-10', 'web-2']],
    ['version', ['db', 'web-2', 'web-10']],
    ['-version', ['web-2', 'db', 'web-10']],
    ['seen', ['web-2', 'db', 'web-10']],
    ['-seen', ['db', 'web-2', 'web-10']],
  ])('%s is that of the column, with nodes that lack it last', (text, names) => {
    expect(sortedNodes(nodes, nodeOrder(text)).map(({ display_name: name }) => name)).toEqual(names)
  })

  test('turns round with a second press, and begins upwards with another column', () => {
    expect(nextOrder(nodeOrder(undefined), 'name')).toBe('-name')
    expect(nextOrder(nodeOrder('-name'), 'name')).toBe('name')
    expect(nextOrder(nodeOrder('-name'), 'seen')).toBe('seen')
  })
})

test('commands are shown as they are typed where the server was started', () => {
  const text = 'ctl join-tokens create --domain ctl\nctl agent install'
  expect(asTyped(text, 'npx ctl')).toBe('npx ctl join-tokens create --domain ctl\nnpx ctl agent install')
  expect(asTyped(text, 'ctl')).toBe(text)
})
