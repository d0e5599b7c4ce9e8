import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { CtlProcess } from '../support/server/ctl-process.ts'
import { depth } from '../support/run/depth.ts'
import { startEventfulReplicas, type EventfulReplicas } from '../support/server/eventful-replicas.ts'
import { metricOf } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 1, deep: 10 })
const NODES = 8
const WAIT = { timeout: 60_000, interval: 50 }

type Stage = readonly [begins: string, when: 'before' | 'answered' | 'after']

/** Where the process that carries events on is killed: at the statements between which each stage is. */
const UNTIL_SIGNED: readonly Stage[] = [
  ['with fresh as ( select id, row_number', 'answered'],
  ['with added as', 'before'],
  ['with added as', 'answered'],
]
/** Into the log, in the transaction that takes them off their way. */
const ENLISTED: readonly Stage[] = [
  ['with head as ( update event_log_head', 'before'],
  ['with head as ( update event_log_head', 'answered'],
  ['delete from outgoing_events', 'answered'],
  ['delete from outgoing_events', 'after'],
]
/** To a stream elsewhere, with their signatures kept before. */
const PUBLISHED: readonly Stage[] = [
  ['update outgoing_events set wire', 'before'],
  ['update outgoing_events set wire', 'answered'],
  ['update outgoing_events set wire', 'after'],
  ['delete from outgoing_events', 'before'],
  ['delete from outgoing_events', 'answered'],
]

const BUSES = [
  { kind: 'event-log', isMissing: false, stages: [...UNTIL_SIGNED, ...ENLISTED] },
  {
    kind: 'jetstream',
    isMissing: requirement('nats-server') === undefined,
    // Until then both are carried alike.
    stages: [...depth({ ci: [], deep: UNTIL_SIGNED }), ...PUBLISHED],
  },
] as const

for (const { kind, isMissing, stages } of BUSES) {
  describe.skipIf(isMissing || requirement('postgresql') === undefined)(`events by ${kind}`, () => {
    let replicas: EventfulReplicas
    beforeAll(async () => {
      replicas = await startEventfulReplicas(kind, NODES)
    }, 180_000)
    afterAll(() => replicas?.stop(), 60_000)

    async function leads(server: CtlProcess): Promise<boolean> {
      return (await metricOf(server, 'leading').catch(() => 0)) === 1
    }

    function leader(): Promise<CtlProcess> {
      return vi.waitFor(async () => {
        for (const server of replicas.servers) if (await leads(server)) return server
        throw new Error('nobody leads')
      }, WAIT)
    }

    const otherThan = (server: CtlProcess): CtlProcess => {
      const other = replicas.servers.find((each) => each !== server)
      if (other === undefined) throw new Error('there is one server')
      return other
    }

    /** Events on their way. */
    async function waiting(): Promise<number> {
      const [row] = await replicas.rows('select count(*)::int as count from outgoing_events')
      return Number(row?.['count'])
    }

    /** While changes are committed without a pause, does something; then every agent has heard of each once, in order. */
    async function whileWriting(work: () => Promise<void>): Promise<void> {
      const writing = replicas.write()
      try {
        await work()
      } finally {
        await writing.stop()
      }
      for (const agent of replicas.agents) {
        const expected = replicas.expected(agent)
        await vi.waitFor(() => expect(agent.sessions.length).toBeGreaterThanOrEqual(expected.length), WAIT)
        expect(agent.sessions.toSorted()).toEqual(expected.toSorted())
        expect(agent.complaints).toEqual([])
      }
    }

    test('a rolling restart costs no agent an event', { timeout: 120_000 }, async () => {
      const before = replicas.agents.map(({ connections }) => connections)
      await whileWriting(async () => {
        for (const server of replicas.servers) {
          expect(await server.end('SIGTERM')).toBe(0)
          await replicas.replace(server)
        }
      })
      for (const [index, { connections }] of replicas.agents.entries())
        expect(connections).toBeGreaterThan(before[index] ?? 0)
    })

    for (let round = 0; round < ROUNDS; round++) {
      test(`kill -9 of the leader, round ${round}`, { timeout: 120_000 }, () =>
        whileWriting(async () => {
          const victim = await leader()
          await victim.end('SIGKILL')
          await leader()
          await replicas.replace(victim)
        }),
      )

      test(`kill -9 of all servers at once, round ${round}`, { timeout: 120_000 }, () =>
        whileWriting(async () => {
          const victims = [...replicas.servers]
          await Promise.all(victims.map((victim) => victim.end('SIGKILL')))
          for (const victim of victims) await replicas.replace(victim)
        }),
      )

      test(`a crash of PostgreSQL, round ${round}`, { timeout: 120_000 }, () =>
        whileWriting(async () => {
          await replicas.cluster.end('SIGQUIT')
          await replicas.cluster.start()
          await leader()
        }),
      )

      test.skipIf(kind !== 'jetstream')(`kill -9 of NATS, round ${round}`, { timeout: 120_000 }, () =>
        whileWriting(async () => {
          await replicas.nats?.end('SIGKILL')
          await vi.waitFor(async () => expect(await waiting()).toBeGreaterThan(5 * NODES), WAIT)
          await replicas.nats?.start()
        }),
      )

      for (const [begins, when] of stages) {
        test(`kill -9 ${when} \`${begins}\`, round ${round}`, { timeout: 120_000 }, () =>
          whileWriting(async () => {
            const first = await leader()
            const standby = otherThan(first)
            await standby.end('SIGKILL')
            const armed = await replicas.replace(standby, { NODE_OPTIONS: killingAt(begins, when) })
            await first.end('SIGKILL')
            expect(await armed.ended()).toBe('SIGKILL')
            await replicas.replace(first)
            await leader()
            await replicas.replace(armed)
          }),
        )
      }
    }
  })
}

function killingAt(begins: string, when: string): string {
  const preload = new URL('../support/datastores/kill-at-statement.mjs', import.meta.url)
  preload.search = new URLSearchParams({ begins, when }).toString()
  return `--import=${preload.href}`
}
