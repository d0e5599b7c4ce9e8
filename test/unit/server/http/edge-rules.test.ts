import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuditQueue } from '../../../../src/server/http/audit/audit-queue.ts'
import { createClientAddress } from '../../../../src/server/http/client-address.ts'
import { correlationIdOf } from '../../../../src/server/http/correlation.ts'
import { deprecationHeaders } from '../../../../src/server/http/deprecations.ts'
import { isOriginAllowed } from '../../../../src/server/http/auth/origins.ts'
import { BROKEN_QUERY, parseQueryString } from '../../../../src/server/http/query-string.ts'
import { isStorableValue } from '../../../../src/server/http/unsafe-text.ts'
import { DatastoreError } from '../../../../src/server/ports/datastore.ts'
import type { AuditSink } from '../../../../src/server/ports/audit-sink.ts'

describe('where a cookie-authenticated change may come from', () => {
  const allowed = { own: 'https://ctl.example', all: new Set(['https://ctl.example', 'https://console.example']) }
  it.each([
    ['an allowed origin', 'https://console.example', 'cross-site', true],
    ['the own origin', 'https://ctl.example', 'same-origin', true],
    ['the own origin, no browser', 'https://ctl.example', undefined, true],
    ['the own origin, from another site', 'https://ctl.example', 'cross-site', false],
    ['another origin', 'https://evil.example', 'same-origin', false],
    ['an opaque origin', 'null', undefined, false],
    ['no origin, the same one', undefined, 'same-origin', true],
    ['no origin, typed in', undefined, 'none', true],
    ['no origin, a sibling', undefined, 'same-site', false],
    ['no origin, another site', undefined, 'cross-site', false],
    ['no browser', undefined, undefined, true],
  ])('%s', (_, origin, fetchSite, verdict) => {
    expect(isOriginAllowed({ origin, fetchSite }, allowed)).toBe(verdict)
  })
})

describe("the client's address", () => {
  const behind = createClientAddress(['10.0.0.0/8', 'fd00::/8'])
  it.each([
    ['ignores forwarded hops of a peer that is not trusted', '203.0.113.1', '198.51.100.1', '203.0.113.1'],
    ['takes the rightmost hop that is not trusted', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['reads mapped IPv4 as IPv4', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['stops at a hop that is no address', '10.0.0.1', '198.51.100.1, nonsense, 10.0.0.2', '10.0.0.2'],
    ['is the proxy where nothing was forwarded', '10.0.0.1', undefined, '10.0.0.1'],
  ])('%s', (_, peer, forwarded, address) => {
    expect(behind(peer, forwarded)).toBe(address)
  })
  it('refuses a network that is none', () => {
    expect(() => createClientAddress(['10.0.0.0'])).toThrow('10.0.0.0 is not a network such as 10.0.0.0/8')
  })
})

describe('the correlation id', () => {
  it.each([
    [{ 'x-correlation-id': 'a.b:c_D-9', 'x-request-id': 'other' }, 'a.b:c_D-9'],
    [{ 'x-correlation-id': 'has space', 'x-request-id': 'other' }, 'other'],
    [{ 'x-correlation-id': 'x'.repeat(129) }, 'minted'],
    [{}, 'minted'],
  ])('%j reads as %s', (headers, id) => {
    expect(correlationIdOf(headers, () => 'minted')).toBe(id)
  })
})

describe('deprecation markers', () => {
  it('become the header forms of RFC 9745 and RFC 8594', () => {
    expect(deprecationHeaders('Op', { since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z' })).toEqual({
      deprecation: '@1767225600',
      sunset: 'Fri, 01 Jan 2027 00:00:00 GMT',
    })
  })
  it.each([
    [{ since: '2026-01-01' }, 'api deprecations: Op: since is not an RFC 3339 instant'],
    [
      { since: '2026-01-01T00:00:00Z', sunset: '2025-01-01T00:00:00Z' },
      'api deprecations: Op: the sunset is before the since instant',
    ],
  ])('%j stops boot', (marker, message) => {
    expect(() => deprecationHeaders('Op', marker)).toThrow(message)
  })
})

describe('query strings', () => {
  it('gather repeated members and decode form encoding', () => {
    expect({ ...parseQueryString('a=1&a=2&b=x+y%2B&&c') }).toEqual({ a: ['1', '2'], b: 'x y+', c: '' })
  })
  it.each(['a=%zz', '%=1', 'a=%ff'])('%s is broken as a whole', (text) => {
    expect(parseQueryString(text)).toBe(BROKEN_QUERY)
  })
})

it('finds what cannot be stored however deep it lies', () => {
  const deep = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [deep(depth - 1, inner)])
  expect(isStorableValue(deep(2_000, 'fine'))).toBe(true)
  expect(isStorableValue(deep(2_000, { 'a\u0000': 1 }))).toBe(false)
  expect(isStorableValue(JSON.parse('{"a":{"__proto__":1}}'))).toBe(false)
})

describe('the audit queue', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const entry = (object: string) => ({
    domainId: null,
    subject: 'user:a',
    relation: 'r',
    object,
    outcome: 'granted' as const,
    reason: 'granted',
    correlationId: 'c',
    context: {},
  })

  function startQueue(write: (objects: readonly string[]) => void) {
    const lost: (readonly [string | null, number])[] = []
    const sink: AuditSink = {
      write: async (rows) => write(rows.map(({ object }) => object)),
      lost: async (rows) => void lost.push(...rows),
    }
    const counted = { written: 0, dropped: 0, failed: 0 }
    const counters = {
      written: (rows: number) => void (counted.written += rows),
      dropped: (rows: number) => void (counted.dropped += rows),
      failed: (rows: number) => void (counted.failed += rows),
    }
    let ids = 0
    const log = pino({ level: 'silent' })
    const deps = { sink, counters, log, clock: { now: () => 0 }, ids: { next: () => String((ids += 1)) } }
    return { queue: createAuditQueue(deps), counted, lost }
  }

  it('writes what gathers in 50 ms as one batch', async () => {
    const batches: (readonly string[])[] = []
    const { queue } = startQueue((objects) => void batches.push(objects))
    queue.add(entry('a'))
    queue.add(entry('b'))
    await vi.advanceTimersByTimeAsync(49)
    expect(batches).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([['a', 'b']])
  })

  it('has a denial written at once', async () => {
    const { queue, counted } = startQueue(() => undefined)
    await queue.write(entry('a'))
    expect(counted).toEqual({ written: 1, dropped: 0, failed: 0 })
  })

  it('lets one refused row cost its neighbours nothing', async () => {
    const { queue, counted, lost } = startQueue((objects) => {
      if (objects.includes('bad')) throw new DatastoreError('constraint', 'x', undefined)
    })
    for (const object of ['a', 'bad', 'b']) queue.add(entry(object))
    await vi.advanceTimersByTimeAsync(50)
    expect(counted).toEqual({ written: 2, dropped: 0, failed: 1 })
    expect(lost).toEqual([[null, 1]])
  })

  it('keeps rows while the datastore is away, lets a denial go after 500 ms, and drops what comes after its end', async () => {
    let away = true
    const { queue, counted } = startQueue(() => {
      if (away) throw new DatastoreError('unavailable', undefined, undefined)
    })
    const denied = queue.write(entry('a'))
    await vi.advanceTimersByTimeAsync(500)
    await denied
    away = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect(counted).toEqual({ written: 1, dropped: 0, failed: 0 })
    await queue.close()
    queue.add(entry('late'))
    expect(counted.dropped).toBe(1)
  })

  it('drops rows of a caller who floods it, and none of another caller', async () => {
    const batches: (readonly string[])[] = []
    let away = true
    const { queue, counted, lost } = startQueue((objects) => {
      if (away) throw new DatastoreError('unavailable', undefined, undefined)
      batches.push(objects)
    })
    const refusal = {
      ...entry('flood'),
      domainId: 'd1',
      subject: 'user:flooder',
      outcome: 'permission_denied' as const,
    }
    for (let row = 0; row < 70_000; row++) queue.add(refusal)
    for (let row = 0; row < 70_000; row++) queue.add({ ...entry('flood'), subject: 'user:flooder' })
    for (let row = 0; row < 1_000; row++) queue.add(entry('read'))
    const denied = queue.write({ ...entry('denial'), outcome: 'permission_denied' })
    expect(counted.dropped).toBe(77_500)
    away = false
    await vi.advanceTimersByTimeAsync(2_000)
    await denied
    expect(batches.flat().filter((object) => object !== 'flood')).toHaveLength(1_001)
    expect(counted).toEqual({ written: 63_501, dropped: 77_500, failed: 0 })
    expect(lost).toEqual([
      ['d1', 45_000],
      [null, 32_500],
    ])
    // The places are free again.
    for (let row = 0; row < 40_000; row++) queue.add({ ...entry('flood'), subject: 'user:flooder' })
    expect(counted.dropped).toBe(77_500)
    await queue.close()
  })
})
