import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Client } from 'pg'
import { mintApiToken } from '../../src/shared/credential-formats.ts'
import { createCrowd } from '../support/datastores/crowd.ts'
import type { CtlProcess } from '../support/server/ctl-process.ts'
import { depth } from '../support/run/depth.ts'
import {
  callServer,
  heartbeatOf,
  metricOf,
  startReplicas,
  type Answered,
  type EnrolledNode,
  type Replicas,
} from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 3, deep: 50 })
const OUTAGES = depth({ ci: 1, deep: 5 })
/** Shorter than a call waits for a connection: no heartbeat came near to that. */
const HEARTBEAT_MS = 2_500
/** Longer than a call waits for a connection. */
const BLOCKED_MS = 6_000
/** Of what a server said, where it is told beside a failure. */
const SAID_LENGTH = 4_000
const TAKEOVERS = depth({ ci: 1, deep: 5 })
/** What a change may take to be seen by every replica. */
const SEEN_WITHIN_MS = 1_000

describe.skipIf(requirement('postgresql') === undefined)('servers on one PostgreSQL', () => {
  let replicas: Replicas
  beforeAll(async () => {
    replicas = await startReplicas(3)
  }, 180_000)
  afterAll(() => replicas?.stop(), 60_000)

  const admin = (server: CtlProcess, call: { method?: string; path: string; body?: unknown }) =>
    callServer(server, { token: replicas.token, ...call })
  const server = (index: number): CtlProcess => {
    const found = replicas.servers[index % replicas.servers.length]
    if (found === undefined) throw new Error('no server')
    return found
  }

  const joinTokenOrder = () => ({
    method: 'POST',
    path: `/v1/domains/${replicas.domainId}/join-tokens`,
    body: { ttl_seconds: 60 },
  })

  /** Asks until the answer is that status, and resolves with the time that it took. */
  async function until(status: number, ask: () => Promise<Answered>): Promise<number> {
    const since = performance.now()
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ status }), { timeout: 60_000, interval: 10 })
    return performance.now() - since
  }

  async function leader(among = replicas.servers): Promise<CtlProcess> {
    return vi.waitFor(
      async () => {
        const flags = await Promise.all(among.map((each) => metricOf(each, 'leading')))
        expect(flags.reduce((sum, flag) => sum + flag, 0)).toBe(1)
        return server(replicas.servers.indexOf(among[flags.indexOf(1)] ?? server(0)))
      },
      { timeout: 30_000, interval: 100 },
    )
  }

  test(`a revoked token and a changed tuple are seen by all within a second, ${ROUNDS} rounds`, async () => {
    const took: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const [here, ...others] = [0, 1, 2].map((offset) => server(round + offset)) as [CtlProcess, ...CtlProcess[]]
      const identity = await admin(here, {
        method: 'POST',
        path: `/v1/domains/${replicas.domainId}/service-identities`,
        body: { display_name: `Robot ${round}`, subject: `robot-${round}` },
      })
      const robot = String(identity.body['id'])
      const issued = await admin(here, {
        method: 'POST',
        path: '/v1/admin/tokens',
        body: { name: 'robot', identity_ref: `service:${robot}` },
      })
      expect(issued).toMatchObject({ status: 201 })
      const token = String(issued.body['token'])
      const path = `/v1/domains/${replicas.domainId}`
      const reads = (by: CtlProcess) => callServer(by, { token, path })
      await Promise.all(replicas.servers.map((each) => until(403, () => reads(each))))
      const granted = await admin(here, {
        method: 'POST',
        path: `${path}/grants`,
        body: { subject: `serviceaccount:${robot}`, relation: 'viewer' },
      })
      expect(granted).toMatchObject({ status: 201 })
      took.push(...(await Promise.all(others.map((each) => until(200, () => reads(each))))))
      await admin(here, { method: 'DELETE', path: `/v1/admin/tokens/${String(issued.body['id'])}` })
      took.push(...(await Promise.all(others.map((each) => until(401, () => reads(each))))))
    }
    expect(Math.max(...took)).toBeLessThan(SEEN_WITHIN_MS)
  }, 120_000)

  test(`a tuple that is created, replaced or deleted on one is so on all within a second, ${ROUNDS} rounds`, async () => {
    const took: number[] = []
    const path = `/v1/domains/${replicas.domainId}`
    const made = await admin(server(0), {
      method: 'POST',
      path: `${path}/projects`,
      body: { slug: `p-${randomUUID()}`, display_name: 'A Project' },
    })
    const project = String(made.body['id'])
    const resource = `project:${project}`
    const tuples = '/v1/authz/relation-tuples'
    for (let round = 0; round < ROUNDS; round++) {
      const [here, ...others] = [0, 1, 2].map((offset) => server(round + offset)) as [CtlProcess, ...CtlProcess[]]
      const group = await admin(here, {
        method: 'POST',
        path: `${path}/groups`,
        body: { slug: `g-${randomUUID()}`, display_name: 'A group' },
      })
      const member = await admin(here, {
        method: 'POST',
        path: `${path}/service-identities`,
        body: { display_name: 'A robot', subject: randomUUID() },
      })
      const subject = `serviceaccount:${String(member.body['id'])}`
      const groupPath = `${path}/groups/${String(group.body['id'])}/members/${subject}`
      await admin(here, { method: 'PUT', path: groupPath })
      const decided = async (by: CtlProcess, relation: string): Promise<unknown> => {
        const call = { method: 'POST', path: '/v1/authz/check', body: { subject, relation, resource } }
        return (await admin(by, call)).body['decision']
      }
      const seen = async (relation: string, decision: string): Promise<void> => {
        // Acknowledged, so that the one that did it knows at once.
        expect(await decided(here, relation)).toBe(decision)
        const since = performance.now()
        await vi.waitFor(
          async () => {
            const decisions = await Promise.all(others.map((each) => decided(each, relation)))
            expect(decisions).toEqual(others.map(() => decision))
          },
          { timeout: 60_000, interval: 10 },
        )
        took.push(performance.now() - since)
      }
      const binding = { subject: `group:${String(group.body['id'])}#member`, relation: 'viewer', resource }
      const created = await admin(here, { method: 'POST', path: `${tuples}?project_id=${project}`, body: binding })
      expect(created.status).toBe(201)
      await seen('read', 'allowed')
      const replaced = await admin(here, {
        method: 'PATCH',
        path: `${tuples}/${String(created.body['id'])}`,
        body: { ...binding, relation: 'deployer' },
      })
      expect(replaced.status).toBe(200)
      await seen('deploy', 'allowed')
      const deleted = await admin(here, { method: 'DELETE', path: `${tuples}/${String(replaced.body['id'])}` })
      expect(deleted.status).toBe(204)
      await seen('deploy', 'denied')
      expect(await decided(here, 'read')).toBe('denied')
    }
    expect(Math.max(...took)).toBeLessThan(SEEN_WITHIN_MS)
  }, 120_000)

  test(`a leader that is stopped loses its term, and does no harm when it wakes, ${TAKEOVERS} takeovers`, async () => {
    for (let round = 0; round < TAKEOVERS; round++) {
      const first = await leader()
      const others = replicas.servers.filter((each) => each !== first)
      const [{ term } = {}] = await replicas.rows('select term::int from leader_term')
      process.kill(first.pid, 'SIGSTOP')
      try {
        await admin(others[0] ?? first, { method: 'POST', path: '/v1/auth/tokens', body: { name: `asleep ${round}` } })
        const second = await leader(others)
        expect(second).not.toBe(first)
        await vi.waitFor(async () => expect(await unnumbered()).toBe(0), { timeout: 60_000 })
      } finally {
        process.kill(first.pid, 'SIGCONT')
      }
      await vi.waitFor(async () => expect(await metricOf(first, 'leading')).toBe(0), { timeout: 60_000 })
      await vi.waitFor(() => expect(first.stderr()).toContain('this process no longer leads'), { timeout: 60_000 })
      await admin(first, { method: 'POST', path: '/v1/auth/tokens', body: { name: `awake ${round}` } })
      await vi.waitFor(async () => expect(await unnumbered()).toBe(0), { timeout: 60_000 })
      expect(await replicas.rows('select term::int from leader_term')).toEqual([{ term: Number(term) + 1 }])
      expect(await disorder()).toEqual([])
    }
  }, 120_000)

  const unnumbered = async () => (await replicas.rows('select 1 from outbox where seq is null')).length
  /** Numbers that are missing or do not follow the order of their rows' writers, and consumers that are not at the head. */
  const disorder = () =>
    replicas.rows(`
      select 'gap' as fault from (select count(*) as n, min(seq) as low, max(seq) as high from outbox) as o
      where n > 0 and n <> high - low + 1
      union all select 'head' from outbox_head where seq <> (select max(seq) from outbox)
      union all select 'behind ' || name from outbox_consumers as c
      where seq < (select max(seq) from outbox where event = 'ServiceIdentityProvisioned') or seq > (select seq from outbox_head)
      union all select 'edge of ' || p.id from principals as p where 1 <> (
        select count(*) from relation_tuples where resource_id = p.id::text and relation = 'domain')`)

  test('an exhausted pool and a storm of calls leave heartbeats alone, those of unknown nodes too', async () => {
    const nodes = await replicas.enrol(16)
    const busy = server(1)
    const blocker = new Client({ connectionString: replicas.cluster.url })
    await blocker.connect()
    await blocker.query('begin; lock table audit in access exclusive mode')
    const over = new AbortController()
    const answers: Answered[] = []
    /** Writes wait for the locked table up to the deadline of a statement, and others take their place. */
    const writers = Array.from({ length: 40 }, async () => {
      while (!over.signal.aborted) answers.push(await admin(busy, joinTokenOrder()))
    })
    const storm = () => [
      ...Array.from({ length: 100 }, () =>
        callServer(busy, { token: mintApiToken('local', randomUUID()).token, path: '/v1/auth/whoami' }),
      ),
      ...Array.from({ length: 100 }, () => admin(busy, { path: `/v1/domains/${replicas.domainId}` })),
    ]
    let calls: readonly Promise<Answered>[] = []
    try {
      const held = () =>
        replicas.rows(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'ctl interactive'`,
        )
      await vi.waitFor(async () => expect((await held()).length).toBeGreaterThanOrEqual(16), { timeout: 60_000 })
      calls = storm()
      const latencies: number[] = []
      const since = performance.now()
      while (performance.now() - since < BLOCKED_MS)
        latencies.push(...(await Promise.all(nodes.map((node) => beat(busy, node)))))
      expect((await held()).length).toBeGreaterThanOrEqual(1)
      expect(latencies.length).toBeGreaterThan(nodes.length)
      expect(Math.max(...latencies)).toBeLessThan(HEARTBEAT_MS)
      // What people asked for fails: the pool that they share is exhausted.
      const failed = () => answers.filter(({ status }) => status >= 500).length
      await vi.waitFor(() => expect(failed()).toBeGreaterThanOrEqual(writers.length))
    } finally {
      over.abort()
      await blocker.query('rollback')
      await blocker.end()
    }
    await Promise.all(writers)
    answers.push(...(await Promise.all(calls)))
    expect(answers.filter(({ status }) => ![200, 201, 401, 500, 503].includes(status))).toEqual([])
  }, 180_000)

  test('a PostgreSQL without a free connection slot takes heartbeats all the same', async () => {
    const [known, ...nodes] = await replicas.enrol(9)
    if (known === undefined) throw new Error('no node')
    await Promise.all(replicas.servers.map((each) => beat(each, known)))
    const crowd = createCrowd(replicas.cluster.url)
    try {
      await crowd.fill()
      const latencies = await Promise.all(
        replicas.servers.flatMap((each) =>
          nodes.map(async (node) => Math.max(await beat(each, node), await beat(each, node))),
        ),
      )
      expect(Math.max(...latencies)).toBeLessThan(HEARTBEAT_MS)
      await crowd.fill()
    } finally {
      await crowd.leave()
    }
  }, 180_000)

  /** Sends a heartbeat, which must be accepted, and resolves with the time that it took. */
  async function beat(to: CtlProcess, node: EnrolledNode): Promise<number> {
    const since = performance.now()
    const answer = await callServer(to, heartbeatOf(node))
    expect(answer, `the server said: ${to.stderr().slice(-SAID_LENGTH)}`).toMatchObject({ status: 200 })
    return performance.now() - since
  }

  /** What is answered once a second has passed without the database. */
  const AWAY = ['read 503 datastore_unavailable', 'heartbeat 503 datastore_unavailable']

  test(`PostgreSQL goes and comes back under load: documented codes, then all is well again, ${OUTAGES} times`, async () => {
    const nodes = await replicas.enrol(6)
    for (let round = 0; round < OUTAGES; round++) {
      const load = underLoad(nodes)
      await vi.waitFor(() => expect(load.answers.length).toBeGreaterThan(50), { timeout: 20_000 })
      await replicas.cluster.end('SIGQUIT')
      const gone = load.answers.length
      // A credential that is cached is refused once its lease has run out; until then only the write fails.
      await vi.waitFor(
        () => {
          const refused = load.answers.slice(gone).filter(isRefused)
          expect(refused.length).toBeGreaterThan(30)
          expect(summaryOf(refused)).toEqual(expect.arrayContaining(AWAY))
        },
        { timeout: 60_000 },
      )
      await replicas.cluster.start()
      await Promise.all(
        replicas.servers.flatMap((each) => [
          until(200, () => admin(each, { path: `/v1/domains/${replicas.domainId}` })),
          ...nodes.map((node) => until(200, () => callServer(each, heartbeatOf(node)))),
        ]),
      )
      await leader()
      const answers = await load.stop()
      expect(summaryOf(answers).filter((line) => !DOCUMENTED.has(line))).toEqual([])
      expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(10_000)
    }
    await vi.waitFor(async () => expect(await unnumbered()).toBe(0), { timeout: 60_000 })
    expect(await disorder()).toEqual([])
  }, 240_000)

  interface Seen extends Answered {
    readonly kind: 'read' | 'write' | 'heartbeat'
    readonly tookMs: number
  }

  /** Those whose credential is known for the rest of its lease reach the store: 500, of which S1 has no code of its own. */
  const DOCUMENTED: ReadonlySet<string> = new Set([
    'read 200',
    'read 500 internal',
    'read 503 datastore_unavailable',
    'read 503 authz_unavailable',
    'write 201',
    'write 500 internal',
    'write 503 datastore_unavailable',
    'write 503 authz_unavailable',
    'heartbeat 200',
    'heartbeat 500 internal',
    'heartbeat 503 datastore_unavailable',
  ])
  const isRefused = ({ status }: Seen): boolean => status >= 500
  const summaryOf = (answers: readonly Seen[]): string[] => [
    ...new Set(
      answers.map(({ kind, status, body }) => [kind, status, ...(status >= 400 ? [body['code']] : [])].join(' ')),
    ),
  ]

  /** Reads, writes and sends heartbeats to every server until it is stopped. */
  function underLoad(nodes: readonly EnrolledNode[]) {
    const answers: Seen[] = []
    const over = new AbortController()
    const repeat = async (kind: Seen['kind'], ask: () => Promise<Answered>): Promise<void> => {
      while (!over.signal.aborted) {
        const since = performance.now()
        const answer = await ask()
        answers.push({ kind, ...answer, tookMs: performance.now() - since })
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    const loops = replicas.servers.flatMap((each, index) => [
      repeat('read', () => admin(each, { path: `/v1/domains/${replicas.domainId}` })),
      repeat('write', () => admin(each, joinTokenOrder())),
      ...nodes
        .filter((_, n) => n % replicas.servers.length === index)
        .map((node) => repeat('heartbeat', () => callServer(each, heartbeatOf(node)))),
    ])
    return {
      answers,
      async stop(): Promise<readonly Seen[]> {
        over.abort()
        await Promise.all(loops)
        return answers
      },
    }
  }
})
