import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import { createPrometheus } from '../../../../src/server/adapters/prometheus/prometheus.ts'
import { createHealth } from '../../../../src/server/ops/health.ts'
import { createOpsServer } from '../../../../src/server/ops/ops-listener.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../../../support/network/raw-socket.ts'

let server: Server | undefined
afterEach(async () => {
  const closed = new Promise((resolve) => server?.close(resolve))
  server?.closeAllConnections()
  await closed
})

let isUp = true

async function start(): Promise<{ url: string; metrics: ReturnType<typeof createPrometheus> }> {
  isUp = true
  const probe = {
    name: 'db-primary',
    meanwhile: 'Reads go on.',
    check: async () => {
      if (!isUp) throw new Error('down')
    },
  }
  let now = 0
  const health = createHealth([probe], { now: () => (now += 1000) })
  const metrics = createPrometheus({
    probeStates: async () => (await health.report()).probes,
    order: () => ({
      isLeading: () => true,
      async outboxLag() {
        if (!isUp) throw new Error('down')
        return { unnumbered: 4, consumers: [{ name: 'relay', rows: 2 }] }
      },
      async webhooks() {
        if (!isUp) throw new Error('down')
        return { pending: 3, disabled: { gone: 1 } }
      },
      async relayLag() {
        if (!isUp) throw new Error('down')
        return { rows: { hints: 3, signing: 2, publishing: 1 }, seconds: 1.5, blockedLanes: 4 }
      },
    }),
    load: () => ({ running: 7, lagSeconds: 0.25, files: { streamsMax: 18_833 } }),
    processFiles: { count: async () => 412 },
  })
  server = createOpsServer({ health, metrics, onError: () => undefined })
  const { port } = await new Promise<AddressInfo>((resolve) => {
    server?.listen(0, '127.0.0.1', () => resolve(server?.address() as AddressInfo))
  })
  return { url: `http://127.0.0.1:${port}`, metrics }
}

test('/metrics tells requests by operation and status, audit rows and probes', async () => {
  const { url, metrics } = await start()
  metrics.observe('PostNodeHeartbeat', 200, 0.004)
  metrics.observe('PostNodeHeartbeat', 401, 0.0004)
  metrics.audit.written(3)
  metrics.audit.failed(2)
  metrics.audit.dropped(1)
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  expect(lines).toContain('http_requests_total{operation="PostNodeHeartbeat",status="200"} 1')
  expect(lines).toContain('http_requests_total{operation="PostNodeHeartbeat",status="401"} 1')
  expect(lines).toContain('http_request_duration_seconds_bucket{le="0.001",operation="PostNodeHeartbeat"} 1')
  expect(lines).toContain('http_request_duration_seconds_count{operation="PostNodeHeartbeat"} 2')
  expect(lines).toContain('audit_rows_written_total 3')
  expect(lines).toContain('audit_write_failures_total 2')
  expect(lines).toContain('audit_rows_dropped_total 1')
  expect(lines).toContain('health_probe_up{probe="db-primary"} 1')
})

test('/metrics tells the load, and open files as the server counts them', async () => {
  const { url } = await start()
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  for (const line of ['http_requests_running 7', 'event_loop_lag_seconds 0.25', 'open_files_streams_max 18833'])
    expect(lines).toContain(line)
  expect(lines.filter((line) => line.startsWith('process_open_fds '))).toEqual(['process_open_fds 412'])
})

test('/metrics shows a probe that went down', async () => {
  const { url } = await start()
  isUp = false
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('health_probe_up{probe="db-primary"} 0')
})

test('/metrics tells who leads and how far the outbox has come, and no lag while the datastore is away', async () => {
  const { url } = await start()
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  expect(lines).toContain('leading 1')
  expect(lines).toContain('outbox_lag_rows{stage="numbering"} 4')
  expect(lines).toContain('outbox_lag_rows{stage="relay"} 2')
  expect(lines).toContain('webhook_deliveries_pending 3')
  expect(lines).toContain('webhooks_disabled{reason="gone"} 1')
  isUp = false
  const away = await (await fetch(`${url}/metrics`)).text()
  expect(away).toContain('leading 1')
  expect(away).not.toContain('outbox_lag_rows{')
  expect(away).not.toMatch(/^webhook\S* /m)
})

test('/metrics tells what is on its way to the event stream, and nothing of it while the datastore is away', async () => {
  const { url, metrics } = await start()
  metrics.relay.published('policy_updated', 3)
  metrics.relay.merged(2)
  metrics.relay.signingFailed()
  metrics.relay.publishFailed()
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  for (const line of [
    'event_relay_published_total{type="policy_updated"} 3',
    'event_relay_hints_merged_total 2',
    'event_relay_signing_failures_total 1',
    'event_relay_publish_failures_total 1',
    'event_relay_lag_rows{stage="hints"} 3',
    'event_relay_lag_rows{stage="signing"} 2',
    'event_relay_lag_rows{stage="publishing"} 1',
    'event_relay_lag_seconds 1.5',
    'event_relay_blocked_lanes 4',
  ])
    expect(lines).toContain(line)
  isUp = false
  const away = await (await fetch(`${url}/metrics`)).text()
  expect(away).toContain('event_relay_published_total{type="policy_updated"} 3')
  expect(away).not.toMatch(/^event_relay_(lag|blocked)/m)
})

test('/readyz and /livez answer here too', async () => {
  const { url } = await start()
  const ready = await fetch(`${url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      status: 'ready',
      probes: [{ name: 'db-primary', ok: true, since: expect.any(String), meanwhile: 'Reads go on.' }],
    },
  ])
  expect((await fetch(`${url}/livez`)).status).toBe(200)
})

test('nothing else is served', async () => {
  const { url } = await start()
  expect((await fetch(`${url}/v1/nodes`)).status).toBe(404)
  expect((await fetch(`${url}/constructor`)).status).toBe(404)
  expect((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405)
})

test('of more than 64 connections the new one is closed, and idle ones make room', async () => {
  const { url } = await start()
  const opened: RawSocket[] = []
  const open = async (): Promise<RawSocket> => {
    const socket = await openRawSocket(Number(new URL(url).port))
    opened.push(socket)
    return socket
  }
  const idle = await open()
  idle.send(requestBytes('GET /livez'))
  await idle.answers(1)
  // They send nothing, so that they do not count as idle.
  for (let count = 1; count < 64; count += 1) await open()
  // The second one is for a machine on which the idle one has timed out before.
  const more = [await open(), await open()]
  await Promise.race(more.map((socket) => socket.closed()))
  await idle.closed()
  opened.at(1)?.destroy()
  await vi.waitFor(async () => expect((await fetch(`${url}/livez`)).status).toBe(200), 10_000)
})
