import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../../src/console/api/operations.ts'
import { requestOf } from '../../../src/console/api/request.ts'
import type { NodeSummary } from '../../../src/console/api/operations.ts'
import { auditCommand, auditQuery, filtersText } from '../../../src/console/model/audit-query.ts'
import { seenEvent, withEvents } from '../../../src/console/model/domain-event.ts'
import { countVersions, driftOf, outOfReach } from '../../../src/console/model/fleet.ts'
import { amountText, relative, shortened } from '../../../src/console/model/format.ts'
import { heldRows } from '../../../src/console/model/held-rows.ts'
import { historyLine } from '../../../src/console/model/history-line.ts'
import { fragmentOf, routeOf } from '../../../src/console/model/route.ts'
import {
  CHART_PERIODS,
  chartPeriod,
  hasGaps,
  lastOfSteps,
  mergedSamples,
  readSamples,
  samplesSince,
  stackedPaths,
  withSample,
} from '../../../src/console/model/samples.ts'
import { grid, idsAway, moved, pairs } from '../../../src/console/model/topology.ts'
import { causesOf, violationText } from '../../../src/console/model/violation.ts'
import { contract } from '../../../src/shared/contract/index.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'

describe('the operations that the console calls', () => {
  const declared = new Map(Object.values(contract).flatMap(({ operations }) => Object.entries<Operation>(operations)))

  test.each(Object.entries(OPERATIONS))('%s is that of the contract', (id, [method, path]) => {
    expect(declared.get(id)).toMatchObject({ method, path })
  })

  test('change nothing but approvals, violations and the sign-in', () => {
    const changes = Object.entries(OPERATIONS).filter(([id]) => {
      const operation = declared.get(id)
      return operation?.method !== 'GET' && operation?.access !== 'read'
    })
    expect(changes.map(([id]) => id)).toEqual([
      'PostAuthSignIn',
      'ApproveApproval',
      'RejectApproval',
      'AcknowledgeDomainIntegrityViolation',
    ])
  })
})

describe('a request', () => {
  test('has members of the path in the path, encoded, and the others in the query', () => {
    const { url } = requestOf(
      { method: 'GET', path: '/v1/nodes/{id}/executions' },
      { id: 'a/../b', limit: '10', cursor: undefined },
      '',
    )
    expect(url).toBe('/v1/nodes/a%2F..%2Fb/executions?limit=10')
  })

  test('carries the anti-forgery token with changes alone', () => {
    const cookies = 'other=1; service_csrf=abc'
    const change = requestOf(
      { method: 'POST', path: '/v1/approvals/{id}/reject' },
      { id: '1', body: { reason: 'no' } },
      cookies,
    )
    expect(change.init.headers).toMatchObject({ 'x-csrf-token': 'abc', 'content-type': 'application/json' })
    expect(change.init.body).toBe('{"reason":"no"}')
    const read = requestOf({ method: 'GET', path: '/v1/approvals' }, {}, cookies)
    expect(read.init.headers).toEqual({ accept: 'application/json' })
  })
})

describe('a route', () => {
  test.each([
    ['', { domain: undefined, view: 'fleet', id: undefined, filters: {} }],
    ['#/acme/nodes/01', { domain: 'acme', view: 'nodes', id: '01', filters: {} }],
    [
      '#/acme/audit?actor=user&only=',
      { domain: 'acme', view: 'audit', id: undefined, filters: { actor: 'user', only: '' } },
    ],
    ['#/acme/%zz', { domain: 'acme', view: 'fleet', id: undefined, filters: {} }],
    ['#/%3Cimg%3E/elsewhere', { domain: '<img>', view: 'fleet', id: undefined, filters: {} }],
  ])('is read from %s', (fragment, route) => {
    expect(routeOf(fragment)).toEqual(route)
  })

  test('is written as it is read', () => {
    const route = { domain: 'a b/c', view: 'nodes', id: 'x?y', filters: { text: 'env=prod & more' } } as const
    expect(routeOf(fragmentOf(route))).toEqual(route)
  })
})

describe('words', () => {
  const NOW = Date.parse('2026-02-01T12:00:00Z')

  test.each([
    ['2026-02-01T12:00:00Z', 'now'],
    ['2026-02-01T11:59:30Z', '30 s ago'],
    ['2026-02-01T11:00:00Z', '1 h ago'],
    ['2026-02-08T11:59:59Z', 'in 7 d'],
  ])('%s is %s', (instant, words) => {
    expect(relative(instant, NOW)).toBe(words)
  })

  test.each([
    [52, 'count', '52'],
    [1234.56, 'events/sec', '1,234.6 events/s'],
    [5_242_880, 'bytes/sec', '5 MiB/s'],
    [12, 'bytes/sec', '12 B/s'],
  ])('%d %s is %s', (value, unit, words) => {
    expect(amountText(value, unit)).toBe(words)
  })

  test('an id is shortened to both of its ends', () => {
    expect(shortened('01935b5e-8f3a-7c61-9d0a-000000000001')).toBe('01935b5e…000001')
    expect(shortened('short')).toBe('short')
  })
})

/** A node with what a test names; the rest is never read. */
const nodeOf = (members: Partial<NodeSummary>): NodeSummary => members as NodeSummary

describe('a fleet', () => {
  test('has its versions the newest first, then texts that are no version, and nodes without one last', () => {
    const versions = ['1.9.0', null, '1.10.0', 'agent-sim', '1.10.0-rc.1', '1.9.0'].map((binary_version) => ({
      binary_version,
    }))
    expect(countVersions(versions)).toEqual([
      { version: '1.10.0', nodes: 1, isOther: false },
      { version: '1.10.0-rc.1', nodes: 1, isOther: false },
      { version: '1.9.0', nodes: 2, isOther: false },
      { version: 'agent-sim', nodes: 1, isOther: true },
      { version: null, nodes: 1, isOther: false },
    ])
  })

  test('has no newest version where no node reports one, and nothing is behind a text that is none', () => {
    const nodes = [nodeOf({ id: '1', binary_version: 'agent-sim' }), nodeOf({ id: '2', binary_version: 'zz-top' })]
    const { newest, behind, other } = driftOf(nodes)
    expect([newest, behind, other.map(({ id }) => id)]).toEqual([null, [], ['1', '2']])
    const mixed = driftOf([...nodes, nodeOf({ id: '3', binary_version: '0.1.0' })])
    expect([mixed.newest, mixed.behind]).toEqual(['0.1.0', []])
  })

  test('does not drift by the metadata of a build, which has no rank', () => {
    const { behind } = driftOf(['1.0.0+a', '1.0.0+b', '1.0.0'].map((version) => nodeOf({ binary_version: version })))
    expect(behind).toEqual([])
  })

  test('drifts by nodes behind the newest version, and by those that wait for keys', () => {
    const nodes = [
      nodeOf({ id: '1', binary_version: '2.0.0', rotation_pending: false }),
      nodeOf({ id: '2', binary_version: '1.0.0', rotation_pending: true }),
      nodeOf({ id: '3', binary_version: null, rotation_pending: false }),
    ]
    const { newest, behind, rotating } = driftOf(nodes)
    expect([newest, behind.map(({ id }) => id), rotating.map(({ id }) => id)]).toEqual(['2.0.0', ['2'], ['2']])
  })

  test('lists nodes out of reach, the longest first', () => {
    const nodes = [
      nodeOf({ id: 'late', reachability: 'stale', last_heartbeat_at: '2026-02-01T12:00:00Z' }),
      nodeOf({ id: 'fine', reachability: 'healthy', last_heartbeat_at: '2026-02-01T12:00:00Z' }),
      nodeOf({ id: 'gone', reachability: 'unreachable', last_heartbeat_at: '2026-02-01T10:00:00Z' }),
    ]
    expect(outOfReach(nodes).map(({ id }) => id)).toEqual(['gone', 'late'])
  })
})

describe('samples', () => {
  const at = (atMs: number, healthy: number) => ({ atMs, healthy, stale: 0, unreachable: 0, never_reported: 0 })

  test('replace each other within five seconds, and are at most 480', () => {
    const close = withSample(withSample([], at(0, 1)), at(4_999, 2))
    expect(close).toEqual([at(0, 2)])
    let samples: ReturnType<typeof withSample> = []
    for (let index = 0; index < 500; index++) samples = withSample(samples, at(index * 15_000, index))
    expect([samples.length, samples[0]?.healthy]).toEqual([480, 20])
  })

  test('grow also where they come every second', () => {
    let samples: ReturnType<typeof withSample> = []
    for (let second = 0; second < 12; second++) samples = withSample(samples, at(second * 1_000, second))
    expect(samples).toEqual([at(0, 4), at(5_000, 9), at(10_000, 11)])
  })

  test.each([null, '', '{', '{"a":1}', '[null,1,{"atMs":"x"}]'])('are none where the browser kept %j', (text) => {
    expect(readSamples(text)).toEqual([])
  })

  test('are stacked, the first state at the bottom', () => {
    const samples = [
      { atMs: 0, healthy: 2, stale: 2, unreachable: 0, never_reported: 0 },
      { atMs: 10, healthy: 4, stale: 0, unreachable: 0, never_reported: 0 },
    ]
    const [healthy, stale] = stackedPaths(samples, { width: 100, height: 40 })
    expect(healthy).toEqual({ state: 'healthy', path: 'M0 20L100 0L100 40L0 40Z' })
    expect(stale).toEqual({ state: 'stale', path: 'M0 0L100 0L100 0L0 20Z' })
  })
})

describe('samples of the server and of the page', () => {
  const at = (atMs: number, healthy = 1) => ({ atMs, healthy, stale: 0, unreachable: 0, never_reported: 0 })
  const instants = (samples: ReturnType<typeof mergedSamples>) => samples.map(({ atMs }) => atMs)

  test('are merged by their instants; of two the later source has the say', () => {
    const merged = mergedSamples([at(0), at(300_000), at(600_000)], [at(310_000), at(300_000, 7)])
    expect(merged).toEqual([at(0), at(300_000, 7), at(310_000), at(600_000)])
    expect(mergedSamples(merged, merged)).toEqual(merged)
    expect(mergedSamples([], [])).toEqual([])
  })

  test('are those of the period, its beginning among them', () => {
    expect(instants(samplesSince([at(0), at(1), at(2)], 1))).toEqual([1, 2])
  })

  test('have a row for the last of each step, the newest first, and none for a step without one', () => {
    expect(instants(lastOfSteps([at(0), at(5), at(10), at(19), at(30)], 10))).toEqual([30, 19, 5])
  })

  test('are one outline where the server has one of every five minutes', () => {
    const [healthy] = stackedPaths(
      [0, 300_000, 600_000].map((ms) => at(ms)),
      { width: 100, height: 40 },
    )
    expect(healthy?.path).toBe('M0 0L50 0L100 0L100 40L50 40L0 40Z')
  })

  test.each([
    ['2h', '2 hours'],
    ['7d', '7 days'],
    ['', '24 hours'],
    ['<b>', '24 hours'],
    [undefined, '24 hours'],
  ])('are of the period %s that the address names: %s', (name, words) => {
    expect(chartPeriod(name).words).toBe(words)
  })

  test('have at most 30 rows in a table of any period', () => {
    for (const { ms, stepMs } of CHART_PERIODS) expect(ms / stepMs + 1).toBeLessThanOrEqual(30)
  })
})

describe('samples with a gap', () => {
  test('are two outlines: nothing is known of the time in which the page was not shown', () => {
    const at = (atMs: number) => ({ atMs, healthy: 2, stale: 0, unreachable: 0, never_reported: 0 })
    const [healthy] = stackedPaths([0, 100_000, 900_000, 1_000_000].map(at), { width: 100, height: 40 })
    expect(healthy?.path).toBe('M0 0L10 0L10 40L0 40ZM90 0L100 0L100 40L90 40Z')
    expect([hasGaps([0, 100_000, 900_000].map(at)), hasGaps([0, 300_000].map(at)), hasGaps([])]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('the history of a capacity', () => {
  test('is a line from the first hour to the last that breaks where hours are missing, with a point for a lone hour', () => {
    const points = [
      { hour: '2026-02-01T00:00:00Z', used_max: 5 },
      { hour: '2026-02-01T01:00:00Z', used_max: 10 },
      { hour: '2026-02-01T03:00:00Z', used_max: 10 },
    ]
    expect(historyLine(points, { width: 40, height: 100 })).toEqual({
      line: 'M0 50L13.3 0',
      dots: 'M40 0h0',
      most: 10,
    })
  })

  test('of one hour is one point in the middle, and no line', () => {
    const points = [{ hour: '2026-02-01T00:00:00Z', used_max: 5 }]
    expect(historyLine(points, { width: 40, height: 100 })).toEqual({ line: '', dots: 'M20 0h0', most: 5 })
  })
})

describe('a topology', () => {
  test('has each pair once, with the worse of its two ways', () => {
    const edges = [
      { from: 'a', to: 'b', mode: 'direct', path: null },
      { from: 'b', to: 'a', mode: 'direct', path: 'none' },
      { from: 'a', to: 'c', mode: 'relayed', path: 'direct' },
    ] as const
    expect(pairs(edges, new Set())).toEqual([
      { ends: ['a', 'b'], way: 'none' },
      { ends: ['a', 'c'], way: 'direct' },
    ])
  })

  test('has no way to a node that is out of reach, whatever the other end reported', () => {
    const nodes = [
      { id: 'a', reachability: 'healthy' },
      { id: 'b', reachability: 'unreachable' },
      { id: 'c', reachability: 'never_reported' },
      { id: 'd', reachability: 'stale' },
    ]
    const edges = ['b', 'c', 'd'].map((to) => ({ from: 'a', to, mode: 'direct', path: 'direct' }) as const)
    expect(pairs(edges, idsAway(nodes)).map(({ way }) => way)).toEqual(['away', 'away', 'direct'])
  })

  test('places 2,000 nodes within the width', () => {
    const items = Array.from({ length: 2_000 }, (_, at) => at)
    const { groups, columns, height } = grid(new Map([['vm', items]]), 330)
    const cells = groups.flatMap((group) => group.cells)
    expect([cells.length, columns]).toEqual([2_000, 15])
    expect(Math.max(...cells.map(({ x }) => x))).toBeLessThan(330)
    expect(Math.max(...cells.map(({ y }) => y))).toBeLessThan(height)
    expect(new Set(cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(2_000)
  })

  test.each([
    ['ArrowRight', 1],
    ['ArrowDown', 5],
    ['ArrowUp', 0],
    ['End', 11],
    ['Tab', undefined],
  ])('moves from its first node by %s to %s', (key, to) => {
    expect(moved(0, key, { count: 12, columns: 5 })).toBe(to)
  })
})

describe('an audit query', () => {
  test('leaves empty filters out, and turns the period into an instant', () => {
    const filters = { actor: 'user', only: '', relation: ' node. ', period: '24h', all: 'yes' }
    expect(auditQuery(filters, Date.parse('2026-02-02T00:00:00Z'))).toEqual({
      actor: 'user',
      relation_prefix: 'node.',
      since: '2026-02-01T00:00:00.000Z',
    })
  })

  test.each([
    [{}, ''],
    [{ all: 'yes', subject: ' ', period: 'nonsense' }, ''],
    [{ only: 'writes', actor: 'user' }, ' --writes --actor user'],
    [
      { relation: 'node.', subject: 'me', object: 'me', outcome: 'permission_denied', period: '24h' },
      ' --subject me --relation node. --object user:1 --outcome permission_denied --since 24h',
    ],
    [
      { relation: 'domain_gr', subject: 'web-1', object: 'platform' },
      " --subject node:web-1 --relation 'domain_gr*' --object platform",
    ],
    [{ subject: "service:it's a robot" }, String.raw` --subject 'service:it'\''s a robot'`],
  ])('%j is a command of the command line', (filters, flags) => {
    const [start, ...rest] = auditCommand(filters, { slug: 'acme', me: 'user:1' }).split(' --domain acme')
    expect([start, ...rest].join('')).toBe(`ctl audit list${flags}`)
  })

  test.each([
    [{}, 'all decisions'],
    [{ only: 'writes', actor: 'user' }, 'changes by people'],
    [
      {
        actor: 'service',
        subject: 'service:bootstrap',
        relation: 'node.',
        object: 'web-1',
        outcome: 'not_found',
        period: '1h',
      },
      'all decisions by service identities namely by service:bootstrap whose relation begins with node. on web-1 with the outcome not found of the last 1h',
    ],
  ])('%j is named in words', (filters, text) => {
    expect(filtersText(filters)).toBe(text)
  })
})

describe('rows that stay in their places', () => {
  const rows = (...ids: readonly string[]) => ids.map((id) => ({ id, at: 'now' }))
  const former = (...ids: readonly string[]) => ids.map((id) => ({ id, at: 'before' }))

  test('are as they are now, whatever order the answer has, and new ones are counted alone', () => {
    expect(heldRows(former('a', 'b'), rows('n', 'b', 'a', 'm'), new Set())).toEqual({
      rows: rows('a', 'b'),
      gone: new Set(),
      newer: 2,
    })
  })

  test('stay where the answer has them no more, unless the person has decided about them', () => {
    expect(heldRows(former('a', 'b', 'c'), rows('c'), new Set(['b', 'c']))).toEqual({
      rows: [...former('a'), ...rows('c')],
      gone: new Set(['a']),
      newer: 0,
    })
  })
})

describe('causes of violations', () => {
  const violation = (artifact_id: string, node_id: string, artifact: string) => ({
    id: `${artifact_id}${node_id}`,
    domain_id: '1',
    status: 'open' as const,
    detected_at: '2026-02-01T00:00:00Z',
    kind: 'binary' as const,
    artifact_id,
    node_id,
    artifact,
    node_name: null,
  })

  test('are artifacts with the number of their nodes, the one on the most nodes first', () => {
    const all = [
      violation('1', 'a', 'agent'),
      violation('2', 'a', 'ssh'),
      violation('2', 'b', 'ssh'),
      violation('2', 'b', 'ssh'),
    ]
    expect(causesOf(all)).toEqual([
      { artifactId: '2', text: 'Binary ssh, 2 nodes' },
      { artifactId: '1', text: 'Binary agent, 1 node' },
    ])
  })

  test('and violations are named by artifact and node', () => {
    expect(violationText(violation('1', 'a', 'agent'))).toBe('Binary agent on a node that left')
    expect(violationText({ ...violation('1', 'a', 'agent'), node_name: 'web-1' })).toBe('Binary agent on web-1')
  })
})

describe('an event of the stream', () => {
  const data = JSON.stringify({
    type: 'node.reachability_changed',
    occurred_at: '2026-02-01T00:00:00.000Z',
    payload: { object: 'node:1', from: 'healthy', to: 'stale' },
  })

  test('is read with what became of its object', () => {
    expect(seenEvent('7', data)).toEqual({
      id: '7',
      type: 'node.reachability_changed',
      object: 'node:1',
      at: '2026-02-01T00:00:00.000Z',
      change: 'healthy → stale',
    })
  })

  test.each(['', '{', 'null', '[]', '{"type":1}', '{"type":"a","occurred_at":"b","payload":{}}'])(
    'is none where its data is %j',
    (text) => {
      expect(seenEvent('7', text)).toBeUndefined()
    },
  )

  test('is kept once, among the last 200', () => {
    let events: ReturnType<typeof withEvents> = []
    for (let at = 0; at < 250; at++) {
      const event = seenEvent(String(at), data)
      if (event !== undefined) events = withEvents(withEvents(events, [event]), [event])
    }
    expect([events.length, events[0]?.id]).toEqual([200, '50'])
  })
})
