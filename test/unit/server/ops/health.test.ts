import { expect, onTestFinished, test, vi } from 'vitest'
import { DatastoreError, DatastoreStopped } from '../../../../src/server/ports/datastore.ts'
import { createHealth, httpStatusOf, type LastCall, type Probe } from '../../../../src/server/ops/health.ts'

function probe(name: string): Probe & { up: boolean; asked: number } {
  return {
    name,
    meanwhile: 'Reads go on.',
    up: true,
    asked: 0,
    async check() {
      this.asked += 1
      if (!this.up) throw new Error('down')
    },
  }
}

function frozen(): { now: () => number; ms: number } {
  const clock = { ms: 0, now: () => clock.ms }
  return clock
}

test('every probe up is ready', async () => {
  const report = await createHealth([probe('db-primary')], frozen()).report()
  expect(report).toEqual({
    status: 'ready',
    probes: [{ name: 'db-primary', ok: true, since: '1970-01-01T00:00:00.000Z', meanwhile: 'Reads go on.' }],
  })
  expect(httpStatusOf(report)).toBe(200)
})

test('a probe that never succeeded blocks readiness', async () => {
  const database = probe('db-primary')
  database.up = false
  const report = await createHealth([database], frozen()).report()
  expect(report).toEqual({
    status: 'unhealthy',
    probes: [
      {
        name: 'db-primary',
        ok: false,
        detail: 'it does not answer',
        since: '1970-01-01T00:00:00.000Z',
        meanwhile: 'Reads go on.',
      },
    ],
  })
  expect(httpStatusOf(report)).toBe(503)
})

test('a probe that fails after its first success only degrades, and recovers', async () => {
  const clock = frozen()
  const database = probe('db-primary')
  const health = createHealth([database], clock)
  await health.report()
  database.up = false
  clock.ms = 1000
  const report = await health.report()
  expect(report).toEqual({
    status: 'degraded',
    probes: [
      {
        name: 'db-primary',
        ok: false,
        informational: true,
        detail: 'it does not answer',
        since: '1970-01-01T00:00:01.000Z',
        meanwhile: 'Reads go on.',
      },
    ],
  })
  expect(httpStatusOf(report)).toBe(200)
  database.up = true
  clock.ms = 2000
  expect(await health.report()).toEqual({
    status: 'ready',
    probes: [{ name: 'db-primary', ok: true, since: '1970-01-01T00:00:02.000Z', meanwhile: 'Reads go on.' }],
  })
})

test('every state is dated by its beginning', async () => {
  const clock = frozen()
  const database = probe('db-primary')
  const health = createHealth([database], clock)
  const sinceAt = async (ms: number, isUp: boolean): Promise<string | undefined> => {
    database.up = isUp
    clock.ms = ms
    return (await health.report()).probes[0]?.since
  }
  expect(await sinceAt(1_000, false)).toBe('1970-01-01T00:00:01.000Z')
  expect(await sinceAt(9_000, false)).toBe('1970-01-01T00:00:01.000Z')
  expect(await sinceAt(10_000, true)).toBe('1970-01-01T00:00:10.000Z')
  expect(await sinceAt(15_000, true)).toBe('1970-01-01T00:00:10.000Z')
  expect(await sinceAt(20_000, false)).toBe('1970-01-01T00:00:20.000Z')
})

test('follows by itself until it drains', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const database = probe('db-primary')
  const health = createHealth([database], { now: () => Date.now() })
  health.follow()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(database.asked).toBe(2)
  health.drain()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(database.asked).toBe(2)
})

test.each([
  [new DatastoreError('unavailable', undefined, undefined), 'it does not answer'],
  [new DatastoreError('readonly', undefined, undefined), 'it is read-only: it takes no writes'],
  [new DatastoreStopped(new Error('/var/lib/ctl: EIO')), 'it stopped for good: restart the server'],
])('says what is wrong, and nothing of the cause: %s', async (cause, detail) => {
  const failing = { name: 'db-primary', meanwhile: 'Reads go on.', check: () => Promise.reject(cause) }
  const { probes } = await createHealth([failing], frozen()).report()
  expect(probes).toMatchObject([{ name: 'db-primary', ok: false, detail }])
})

test('a latched failure beside one that never succeeded is unhealthy', async () => {
  const clock = frozen()
  const [database, bus] = [probe('db-primary'), probe('jetstream')]
  bus.up = false
  const health = createHealth([database, bus], clock)
  await health.report()
  database.up = false
  clock.ms = 1000
  expect((await health.report()).status).toBe('unhealthy')
})

test('probes are asked at most once a second', async () => {
  const clock = frozen()
  const database = probe('db-primary')
  const health = createHealth([database], clock)
  await Promise.all([health.report(), health.report()])
  clock.ms = 999
  await health.report()
  expect(database.asked).toBe(1)
  clock.ms = 1000
  await health.report()
  expect(database.asked).toBe(2)
})

test('a draining server is unhealthy at once', async () => {
  const health = createHealth([probe('db-primary')], frozen())
  await health.report()
  health.drain()
  expect((await health.report()).status).toBe('unhealthy')
})

test('a probe that never comes back takes the server out of rotation, also after its first success', async () => {
  const clock = frozen()
  const engine = { ...probe('embedded-engine'), isFinal: true as const }
  const health = createHealth([probe('db-primary'), engine], clock)
  expect((await health.report()).status).toBe('ready')
  engine.up = false
  clock.ms = 1000
  const report = await health.report()
  expect(report.probes[1]).toEqual({
    name: 'embedded-engine',
    ok: false,
    detail: 'it does not answer',
    since: '1970-01-01T00:00:01.000Z',
    meanwhile: 'Reads go on.',
  })
  expect([report.status, httpStatusOf(report)]).toEqual(['unhealthy', 503])
})

test('what has no probe is reported from its last call, and has no part in the status', async () => {
  const clock = frozen()
  let last: LastCall | undefined
  const signer = { name: 'signer', meanwhile: 'Events wait.', lastCall: () => last }
  const health = createHealth([probe('db-primary')], clock, [signer])
  const reportedWith = async (call: LastCall | undefined) => {
    last = call
    clock.ms += 1_000
    const { status, unprobed } = await health.report()
    return [status, unprobed]
  }
  const since = new Date(0)
  const said = { name: 'signer', since: '1970-01-01T00:00:00.000Z', meanwhile: 'Events wait.' }
  expect(await reportedWith(undefined)).toEqual(['ready', undefined])
  expect(await reportedWith({ since, fault: undefined })).toEqual(['ready', [{ ...said, ok: true }]])
  expect(await reportedWith({ since, fault: 'it is sealed: unseal it' })).toEqual([
    'ready',
    [{ ...said, ok: false, informational: true, detail: 'it is sealed: unseal it' }],
  ])
})
