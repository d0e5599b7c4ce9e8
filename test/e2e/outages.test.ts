import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCtl, startCtl, type CtlProcess, type CtlResult } from '../support/server/ctl-process.ts'
import { startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { callServer, enrol, heartbeatOf, type ApiCall, type EnrolledNode } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startSpicedb, type SpicedbServer } from '../support/authz/spicedb-server.ts'

interface Row {
  readonly away: string
  readonly call: string
  readonly answer: string
  /** Seconds after which it works again at the latest; undefined where it never stopped. */
  readonly backWithin: number | undefined
}

/** The rows of the table that operators read. */
const ROWS: readonly Row[] = readFileSync(new URL('../../docs/degradation.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?:PostgreSQL|NATS|SpiceDB) \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, away = '', call = '', answer = '', back = '']) => ({ away, call, answer, backWithin: secondsOf(back) }))

function secondsOf(cell: string): number | undefined {
  const [, seconds] = /^(\d+) s$/.exec(cell) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

/** What the table says of a dependency. */
const tableOf = (away: string): Readonly<Record<string, string>> =>
  Object.fromEntries(ROWS.filter((row) => row.away === away).map(({ call, answer }) => [call, answer]))

/** Where one says nothing else. */
const RECOVERED_WITHIN_MS = 15_000
const isMissing = ['postgresql', 'nats-server', 'spicedb'].some(
  (name) => requirement(name as Parameters<typeof requirement>[0]) === undefined,
)

describe.skipIf(isMissing)('a server whose dependencies go and come back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-outages-'))
  let cluster: PostgresCluster
  let nats: NatsServer
  let spicedb: SpicedbServer
  /** One with the embedded engine, one with SpiceDB, each on a database of its own. */
  const plane: { embedded?: Plane; spicedb?: Plane } = {}

  beforeAll(async () => {
    ;[cluster, nats, spicedb] = await Promise.all([startPostgresCluster(), startNatsServer(), startSpicedb()])
    writeFileSync(join(folder, 'spicedb-token'), `${spicedb.token}\n`, { mode: 0o600 })
    const common = { folder, natsUrl: `nats://${nats.address}` }
    plane.embedded = await startPlane({ ...common, name: 'embedded', databaseUrl: await cluster.createDatabase() })
    plane.spicedb = await startPlane({
      ...common,
      name: 'spicedb',
      databaseUrl: await cluster.createDatabase(),
      env: {
        SERVICE_ENV: 'other',
        SERVICE_SPICEDB_ENDPOINT: spicedb.endpoint,
        SERVICE_SPICEDB_TOKEN_FILE: join(folder, 'spicedb-token'),
      },
    })
  }, 180_000)
  afterAll(async () => {
    await Promise.all([plane.embedded?.stop(), plane.spicedb?.stop()])
    await Promise.all([cluster.stop(), nats.stop(), spicedb.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  const given = (one: Plane | undefined): Plane => {
    if (one === undefined) throw new Error('the server did not start')
    return one
  }

  test('the table names every call of every dependency', () => {
    const calls = Object.keys(CALLS)
    for (const away of ['PostgreSQL', 'NATS', 'SpiceDB']) expect(Object.keys(tableOf(away))).toEqual(calls)
  })

  test.each([
    ['PostgreSQL', () => plane.embedded, () => cluster.end('SIGINT'), () => cluster.start()],
    ['NATS', () => plane.embedded, () => nats.end('SIGKILL'), () => nats.start()],
    ['SpiceDB', () => plane.spicedb, () => spicedb.stop(), () => spicedb.start()],
  ] as const)(
    'without %s every call is answered as the table says, and everything works again once it is back',
    { timeout: 180_000 },
    async (away, planeOf, stop, start) => {
      const world = given(planeOf())
      const well = await answersOf(world)
      const fleet = await world.startFleet()
      await stop()
      try {
        await expect.poll(() => answersOf(world), { timeout: 25_000, interval: 200 }).toEqual(tableOf(away))
        // Where it can be taken, the other nodes have to hear of it all the same.
        await world.enrolOne().catch(() => undefined)
      } finally {
        await start()
      }
      const seconds = await recoveries(world, well)
      for (const { call, backWithin } of ROWS.filter((row) => row.away === away))
        expect(seconds[call], `${call} works again`).toBeLessThan(backWithin ?? RECOVERED_WITHIN_MS / 1000)
      expect(await answersOf(world)).toEqual(well)
      await world.enrolOne()
      expect(await fleet.ended).toMatchObject({ exitCode: 0 })
    },
  )
})

type Call = (world: Plane) => Promise<string>

/** What people and agents do, each said as the table says it. */
const CALLS: Readonly<Record<string, Call>> = {
  'a check asked a moment ago': (world) => answerOf(world, world.check(world.domainId)),
  'any other check': (world) => answerOf(world, world.check(crypto.randomUUID())),
  'a list': (world) => answerOf(world, { token: world.token, path: '/v1/domains' }),
  'a change': (world) => answerOf(world, world.change()),
  'a heartbeat': (world) => answerOf(world, heartbeatOf(world.node)),
  "a pull of a node's state": (world) =>
    answerOf(world, { token: world.node.nsk, path: `/v1/nodes/${world.node.id}/state` }),
  'a new event stream': async (world) => {
    const response = await world.openStream()
    if (response.status !== 200) return `${response.status} \`${((await response.json()) as { code: string }).code}\``
    await response.body?.cancel().catch(() => undefined)
    return '200'
  },
  'an open event stream': async (world) => (world.isStreamOpen() ? 'stays open' : 'has ended'),
  '`/readyz`': async ({ server }) => {
    const response = await fetch(`${server.url}/readyz`)
    const { status, probes } = (await response.json()) as Readiness
    const away = probes.filter(({ ok }) => !ok).map(({ name }) => `\`${name}\``)
    return away.length === 0
      ? `${response.status} \`${status}\``
      : `${response.status} \`${status}\`: ${away.join(', ')}`
  },
  '`/livez`': async ({ server }) => String((await fetch(`${server.url}/livez`)).status),
}

interface Readiness {
  readonly status: string
  readonly probes: readonly { readonly name: string; readonly ok: boolean }[]
}

async function answersOf(world: Plane): Promise<Readonly<Record<string, string>>> {
  const answers: Record<string, string> = {}
  for (const [name, call] of Object.entries(CALLS)) answers[name] = await call(world)
  return answers
}

const RECOVERY_POLL_MS = 100

/** How long each call takes, in seconds from now, until it is answered as when all was well; infinite beyond the bound. */
async function recoveries(
  world: Plane,
  well: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, number>>> {
  const fromMs = performance.now()
  const since = (): number => (performance.now() - fromMs) / 1000
  const waits = Object.entries(CALLS).map(async ([name, call]) => {
    while (since() < RECOVERED_WITHIN_MS / 1000) {
      if ((await call(world)) === well[name]) return [name, Number(since().toFixed(1))] as const
      await new Promise((resolve) => setTimeout(resolve, RECOVERY_POLL_MS))
    }
    return [name, Infinity] as const
  })
  return Object.fromEntries(await Promise.all(waits))
}

async function answerOf({ server }: Plane, { token, method = 'GET', path, body }: ApiCall): Promise<string> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const answer = (await response.json()) as { readonly code?: string }
  if (response.status >= 400) return `${response.status} \`${answer.code}\``
  const isDegraded = response.headers.get('x-service-degraded') !== null
  return isDegraded ? `${response.status} with \`X-Service-Degraded\`` : String(response.status)
}

/** A server with a node, a stream of it that is open, and a fleet that reports in all the while. */
interface Plane {
  readonly server: CtlProcess
  readonly token: string
  readonly domainId: string
  readonly node: EnrolledNode
  check(domainId: string): ApiCall
  change(): ApiCall
  openStream(): Promise<Response>
  isStreamOpen(): boolean
  /** A fleet that has joined, and reports in for as long as an outage lasts; its end tells whether every event arrived. */
  startFleet(): Promise<{ readonly ended: Promise<CtlResult> }>
  enrolOne(): Promise<unknown>
  stop(): Promise<void>
}

interface PlaneOptions {
  readonly folder: string
  readonly name: string
  readonly databaseUrl: string
  readonly natsUrl: string
  readonly env?: Readonly<Record<string, string>>
}

const FLEET_NODES = 20
const FLEET = [
  'agent-sim',
  '--nodes',
  String(FLEET_NODES),
  '--duration',
  '30s',
  '--heartbeat-interval',
  '1s',
  '--deregister',
]

async function startPlane({ folder, name, databaseUrl, natsUrl, env }: PlaneOptions): Promise<Plane> {
  const tokenFile = join(folder, `${name}-bootstrap`)
  const server = await startCtl({
    args: ['--data-dir', join(folder, name), '--bootstrap-token-file', tokenFile],
    env: { SERVICE_DATABASE_URL: databaseUrl, SERVICE_NATS_URL: natsUrl, ...env },
  })
  const token = readFileSync(tokenFile, 'utf8').trim()
  const { body: me } = await callServer(server, { token, path: '/v1/auth/whoami' })
  const domainId = String(me['domain_id'])
  const subject = String(me['subject'])
  const enrolOne = () => enrol(server, { token, domainId, nodes: 1 })
  const [node] = await enrolOne()
  if (node === undefined) throw new Error('no node was enrolled')
  async function healthyNodes(): Promise<number> {
    const { body } = await callServer(server, { token, path: '/v1/nodes?reachability=healthy&limit=200' })
    return (body['items'] as readonly unknown[]).length
  }
  let changes = 0
  const openStream = () =>
    fetch(`${server.url}/v1/nodes/${node.id}/events`, {
      headers: { authorization: `Bearer ${node.nsk}` },
      signal: AbortSignal.timeout(600_000),
    })
  const stream = await openStream()
  let isOpen = true
  void stream.body
    ?.pipeTo(new WritableStream())
    .finally(() => {
      isOpen = false
    })
    .catch(() => undefined)
  return {
    server,
    token,
    domainId,
    node,
    check: (id) => ({
      token,
      method: 'POST',
      path: '/v1/authz/check',
      body: { subject, relation: 'read', resource: `domain:${id}` },
    }),
    change: () => ({
      token,
      method: 'POST',
      path: `/v1/domains/${domainId}/projects`,
      body: { slug: `${name}-${(changes += 1)}`, display_name: 'A change' },
    }),
    openStream,
    isStreamOpen: () => isOpen,
    async startFleet() {
      const ended = runCtl([...FLEET, '--fail-on', 'missed_events>0,bad_signatures>0'], {
        CTL_URL: server.url,
        CTL_TOKEN: token,
        CTL_CONFIG_DIR: join(folder, 'config'),
      })
      await expect.poll(healthyNodes, { timeout: 30_000, interval: 500 }).toBeGreaterThanOrEqual(FLEET_NODES)
      return { ended }
    },
    enrolOne,
    stop: async () => void (await server.end('SIGTERM')),
  }
}
