import { describe, expect, test } from 'vitest'
import type { NodeSummary } from '../../../src/console/api/operations.ts'
import { nextOrder, nodeOrder, sortedNodes } from '../../../src/console/model/node-order.ts'
import { asTyped } from '../../../src/console/model/typed.ts'
import { compareVersions, isVersion } from '../../../src/console/model/versions.ts'

describe('versions', () => {
  test.each([
    '1.0.0',
    '0.0.0',
    '1.0.0-rc.1',
    '1.0.0-alpha-a.b-c',
    '1.0.0+20130313144700',
    '1.0.0-x.7.z.92+sha.5114f85',
  ])('%s has a rank', (text) => {
    expect(isVersion(text)).toBe(true)
  })

  test.each([
    '',
    'agent-sim',
    '1',
    '1.2',
    'v1.2.3',
    '1.2.3.4',
    '01.2.3',
    '1.2.3-',
    '1.2.3-01',
    '1.2.3-a..b',
    '1.2.3 ',
    '1.2.3+',
  ])('“%s” has none', (text) => {
    expect(isVersion(text)).toBe(false)
    expect(compareVersions(text, '0.0.0-0')).toBeLessThan(0)
  })

  test('are in the order of Semantic Versioning 11', () => {
    const order = [
      'agent-sim',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.9.0',
      '1.10.0',
      '99999999999999999999.0.0',
      '100000000000000000000.0.0',
    ]
    expect(order.toReversed().toSorted(compareVersions)).toEqual(order)
  })
})

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
