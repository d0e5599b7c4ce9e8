import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import { startSimulation } from '../support/fleet/simulation.ts'
import { startRoundRobin, type RoundRobin } from '../support/network/round-robin.ts'
import { requirement } from '../support/run/requirements.mjs'
import { callServer, enrol, metricOf, startReplicas, type Replicas } from '../support/server/replicas.ts'

const REPLICAS = 4
const STREAMS = 200
const DOMAINS = ['north', 'east', 'south', 'west']
const WAIT = { interval: 250, timeout: 60_000 }
const isMissing = requirement('postgresql') === undefined || requirement('nats-server') === undefined

describe.skipIf(isMissing)(`${STREAMS} streams on ${REPLICAS} replicas`, () => {
  let nats: NatsServer
  let replicas: Replicas
  let proxy: RoundRobin
  beforeAll(async () => {
    nats = await startNatsServer()
    replicas = await startReplicas(REPLICAS, {
      SERVICE_NATS_URL: `nats://${nats.address}`,
      // All together take fewer connections than PostgreSQL has.
      SERVICE_POOL_INTERACTIVE_MAX_CONNS: '10',
    })
    proxy = await startRoundRobin(replicas.servers.map(({ url }) => url))
  }, 180_000)
  afterAll(async () => {
    await proxy?.close()
    await replicas?.stop()
    await nats?.stop()
  }, 180_000)

  async function openStreams(): Promise<readonly number[]> {
    return Promise.all(replicas.servers.map((server) => metricOf(server, 'event_streams_open').catch(() => 0)))
  }
  const sum = (all: readonly number[]): number => all.reduce((whole, one) => whole + one, 0)

  async function makeDomain(slug: string): Promise<string> {
    const body = { slug, display_name: slug }
    const made = await callServer(proxy, { token: replicas.token, method: 'POST', path: '/v1/domains', body })
    expect(made.status).toBe(201)
    return String(made.body['id'])
  }

  test('one is killed: its streams open on the others, none misses an event, and every node goes on reporting', async () => {
    const { servers, token } = replicas
    const domains: string[] = []
    for (const slug of DOMAINS) domains.push(await makeDomain(slug))
    const nodes = ['--light', '--nodes', String(STREAMS), '--domain', domains.join(','), '--concurrency', '2']
    const pace = ['--duration', '15s', '--heartbeat-interval', '2s', '--endpoint-changes', '50%/min']
    const fleet = startSimulation({ CTL_URL: proxy.url, CTL_TOKEN: token }, [...nodes, ...pace, '-o', 'json'])
    await expect.poll(fleet.progress, { ...WAIT, timeout: 120_000 }).toContain('"phase":"running"')
    await expect.poll(async () => sum(await openStreams()), WAIT).toBe(STREAMS)
    const before = await openStreams()
    expect(Math.min(...before)).toBeGreaterThan(STREAMS / REPLICAS / 2)

    await servers[1]?.end('SIGKILL')
    // An event for each stream of a Domain, while a quarter of them has none.
    await enrol(proxy, { token, domainId: domains[0] ?? '', nodes: 1 })
    await expect.poll(openStreams, WAIT).toSatisfy((now: readonly number[]) => now[1] === 0 && sum(now) === STREAMS)

    const { stdout, stderr } = await fleet.ended
    const { failures, ...counts } = JSON.parse(stdout) as Readonly<Record<string, number>> & {
      readonly failures: readonly { operation: string; code: string; count: number }[]
    }
    expect(counts, stderr.slice(-2_000)).toMatchObject({
      registrations: STREAMS,
      missed_events: 0,
      unconfirmed_streams: 0,
      undelivered_changes: 0,
    })
    expect(counts['stream_reconnects']).toBeGreaterThanOrEqual(before[1] ?? 0)
    // A broken connection is a failure of its stream, and no stream has another.
    const ofStreams = failures.filter(({ operation }) => operation === 'stream')
    expect(ofStreams).toEqual([{ operation: 'stream', code: 'broken', count: counts['stream_reconnects'] }])
    let reporting = 0
    for (const id of domains) {
      const path = `/v1/nodes?domain_id=${id}&reachability=healthy&limit=200`
      const { items } = (await callServer(proxy, { token, path })).body as { items: { display_name: string }[] }
      reporting += items.filter(({ display_name: name }) => name.startsWith('sim-')).length
    }
    expect(reporting).toBe(STREAMS)
  }, 240_000)
})
