import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startCollector, type Collector } from '../support/network/otlp-collector.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`

/** One data directory for all: making one takes longest. */
const folder = mkdtempSync(join(tmpdir(), 'ctl-tracing-'))
let server: CtlProcess | undefined
afterAll(async () => {
  await server?.end('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Starts the server, in the place of the one before it. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<CtlProcess> {
  await server?.end('SIGTERM')
  server = await startCtl({ args: ['--data-dir', join(folder, 'data'), '--log-level', 'debug'], env })
  return server
}

function token(): string {
  return readFileSync(join(folder, 'data/bootstrap-token'), 'utf8').trim()
}

function call(path: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}): Promise<Response> {
  const authorization = `Bearer ${token()}`
  return fetch(`${server?.url ?? ''}${path}`, { ...init, headers: { authorization, ...headers } })
}

/** The log records of one request. */
function recordsOf(correlationId: string): Record<string, unknown>[] {
  const lines = (server?.stderr() ?? '').split('\n').filter((line) => line.startsWith('{'))
  const records = lines.map((line): Record<string, unknown> => JSON.parse(line))
  return records.filter((record) => record['correlation_id'] === correlationId)
}

async function recordedOf(correlationId: string): Promise<Record<string, unknown>[]> {
  await vi.waitFor(() => expect(recordsOf(correlationId)).not.toEqual([]), { timeout: 60_000 })
  return recordsOf(correlationId)
}

describe('without a collector', () => {
  const loads = join(folder, 'loads')
  beforeAll(() =>
    start({
      NODE_OPTIONS: `--import ${new URL('../support/run/import-log.mjs', import.meta.url).href}`,
      CTL_TEST_IMPORT_LOG: loads,
    }),
  )

  test('every log record of a request names the trace of its caller', async () => {
    await call('/v1/auth/whoami', { traceparent: TRACEPARENT, 'x-correlation-id': 'granted' })
    await fetch(`${server?.url ?? ''}/v1/auth/whoami`, {
      headers: { traceparent: TRACEPARENT, 'x-correlation-id': 'refused', authorization: 'Bearer psk_no' },
    })
    await call('/v1/nothing-here', { traceparent: TRACEPARENT, 'x-correlation-id': 'unrouted' })
    const granted = await recordedOf('granted')
    const refused = await recordedOf('refused')
    const unrouted = await recordedOf('unrouted')
    for (const record of [...granted, ...refused, ...unrouted])
      expect(record).toMatchObject({ trace_id: TRACE, span_id: PARENT })
    expect(granted.map(({ msg }) => msg)).toEqual(['request'])
    expect(refused.map(({ msg }) => msg)).toEqual(['credential refused', 'request refused', 'request'])
  })

  test('a traceparent that breaks the grammar is as none', async () => {
    await call('/v1/auth/whoami', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01`, 'x-correlation-id': 'bad' })
    const [record] = await recordedOf('bad')
    expect(record).toMatchObject({ operation: 'GetAuthWhoami', status: 200 })
    expect(record).not.toHaveProperty('trace_id')
    expect(record).not.toHaveProperty('span_id')
  })

  test('nothing of OpenTelemetry is loaded', () => {
    expect(readFileSync(loads, 'utf8')).toContain('/dist/serve/serve.js')
    expect(readFileSync(loads, 'utf8')).not.toContain('@opentelemetry')
  })
})

describe('with a collector', () => {
  let collector: Collector
  beforeAll(async () => {
    collector = await startCollector()
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_SERVICE_NAME: 'ctl-test',
    })
  })
  afterAll(() => collector.close())

  test('a request is a span of its caller’s trace, which the log names, and its transaction one below', async () => {
    const body = JSON.stringify({ slug: 'traced', display_name: 'Traced' })
    const headers = {
      traceparent: TRACEPARENT,
      tracestate: 'rojo=1, congo=2',
      'x-correlation-id': 'made',
      'content-type': 'application/json',
      'user-agent': 'tracing-test',
    }
    const answer = await call('/v1/domains', headers, { method: 'POST', body })
    expect(answer.status).toBe(201)
    const span = await collector.span('CreateDomain')
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'rojo=1,congo=2', kind: 2 })
    expect(span.status).toEqual({ code: 0 })
    expect(span.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/domains',
      'http.response.status_code': 201,
      'url.path': '/v1/domains',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'client.address': '127.0.0.1',
      'user_agent.original': 'tracing-test',
      'ctl.correlation_id': 'made',
    })
    const transaction = await collector.span('transaction')
    expect(transaction).toMatchObject({ traceId: TRACE, parentSpanId: span.spanId })
    const [record] = await recordedOf('made')
    expect(record).toMatchObject({ trace_id: TRACE, span_id: span.spanId })
    expect(collector.resource()).toMatchObject({ 'service.name': 'ctl-test', 'service.version': '0.1.0' })
  })

  test('what was left in the outbox is taken in a span that names the requests it came from', async () => {
    const body = JSON.stringify({ slug: 'left', display_name: 'Left' })
    await call(
      '/v1/domains',
      { 'x-correlation-id': 'left', 'content-type': 'application/json' },
      { method: 'POST', body },
    )
    const named = (): boolean =>
      collector.spans().some((span) => String(span.attributes['ctl.correlation_ids']).includes('left'))
    await vi.waitFor(() => expect(named()).toBe(true), { timeout: 20_000 })
  })

  test('a request without a trace begins one; a refusal is no failure of the server', async () => {
    const path = '/v1/auth/tokens/psk_live_secret-in-the-path?token=psk_in_the_query'
    await call(path, { 'x-correlation-id': 'lost' }, { method: 'DELETE' })
    const span = await collector.span('DeleteAuthTokenByID')
    expect(span.parentSpanId).toBeUndefined()
    expect(span.status).toEqual({ code: 0 })
    expect(span.attributes).toMatchObject({ 'url.path': '/v1/auth/tokens/{id}', 'http.response.status_code': 400 })
    expect(span.attributes['ctl.problem']).toMatch(/^invalid_/)
    expect(collector.said()).not.toContain('psk_')
    expect(collector.said()).not.toContain(token())
  })

  test('a caller’s decision not to record is followed, and its trace is logged all the same', async () => {
    const before = collector.spans().length
    await call('/v1/auth/whoami', { traceparent: `00-${TRACE}-${PARENT}-00`, 'x-correlation-id': 'unsampled' })
    expect((await recordedOf('unsampled'))[0]).toMatchObject({ trace_id: TRACE })
    await call('/v1/domains', { 'x-correlation-id': 'after' })
    await collector.span('ListDomains')
    const names = collector.spans().slice(before)
    expect(names.map(({ name }) => name)).not.toContain('GetAuthWhoami')
  })

  test('a collector that refuses is told of once a minute, and no request hears of it', async () => {
    collector.refuse(400)
    for (let round = 0; round < 5; round++) {
      const before = collector.requests()
      expect((await call('/v1/auth/whoami')).status).toBe(200)
      await vi.waitFor(() => expect(collector.requests()).toBeGreaterThan(before), { timeout: 60_000 })
    }
    const complaint = /spans were lost or tracing is badly configured/g
    await vi.waitFor(() => expect(server?.stderr()).toMatch(complaint), { timeout: 60_000 })
    expect(server?.stderr().match(complaint)).toHaveLength(1)
  })

  test('a collector that never answers does not hold up the stop', async () => {
    collector.refuse('never answers')
    await call('/v1/auth/whoami')
    const begun = performance.now()
    expect(await server?.end('SIGTERM')).toBe(0)
    expect(performance.now() - begun).toBeLessThan(8_000)
  })

  test('what is queued is handed over at the stop, by the name ctl', async () => {
    collector.refuse(undefined)
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '600000' })
    const before = collector.requests()
    await call('/v1/auth/whoami', { 'x-correlation-id': 'queued' })
    expect(collector.requests()).toBe(before)
    expect(await server?.end('SIGTERM')).toBe(0)
    const queued = collector.spans().find(({ attributes }) => attributes['ctl.correlation_id'] === 'queued')
    expect(queued?.name).toBe('GetAuthWhoami')
    expect(collector.resource()).toMatchObject({ 'service.name': 'ctl' })
  })
})

test('an endpoint that is none stops the start in one sentence', async () => {
  await expect(start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).rejects.toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:// or https://.',
  )
})
