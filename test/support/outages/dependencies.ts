import { execFileSync } from 'node:child_process'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import type { PostgresCluster } from '../datastores/postgres-cluster.ts'
import type { NatsServer } from '../events/nats-server.ts'
import { startRelay, type Relay } from './relay.ts'

/** How a dependency fails. */
export type How = 'stopped' | 'frozen' | 'slow'

export const HOWS: readonly How[] = ['stopped', 'frozen', 'slow']

/** Delay of each answer of a dependency that is `slow`, in ms: more than the two seconds that a probe waits. */
const SLOW_MS = 3_000
/** Of PostgreSQL: more than the second for which caches are good. A change makes up to 20 statements. */
const SLOW_STATEMENT_MS = 1_200

/** A dependency that can be taken away and brought back; servers reach it through a relay. */
export interface Dependency {
  /** As the table of docs/degradation.md names it. */
  readonly name: string
  /** `host:port`, of the relay. */
  readonly address: string
  fail(how: How): Promise<void>
  recover(how: How): Promise<void>
  /** Ends the relay alone. */
  close(): Promise<void>
}

/** What stops and freezes the server behind the relay. */
interface Signals {
  stop(): Promise<void>
  start(): Promise<void>
  freeze(): void
  thaw(): void
}

/** What is before the server, and how much later than at once a slow one answers. */
interface Front {
  readonly relay: Relay
  readonly slowMs: number
}

const front = async (target: string, slowMs = SLOW_MS): Promise<Front> => ({ relay: await startRelay(target), slowMs })

function dependency(name: string, { relay, slowMs }: Front, server: Signals): Dependency {
  const ways: Readonly<Record<How, { fail(): Promise<void>; recover(): Promise<void> }>> = {
    stopped: {
      // Without the relay connections are refused, as without the server.
      fail: async () => void (await Promise.all([server.stop(), relay.kill()])),
      async recover() {
        await server.start()
        await relay.start()
      },
    },
    frozen: { fail: async () => server.freeze(), recover: async () => server.thaw() },
    slow: { fail: () => relay.delay(slowMs), recover: () => relay.delay(0) },
  }
  return {
    name,
    address: relay.address,
    fail: (how) => ways[how].fail(),
    recover: (how) => ways[how].recover(),
    close: () => relay.close(),
  }
}

const addressOf = (url: string): string => new URL(url).host

/** PostgreSQL: a stop is a crash of all of its processes. */
export async function postgresDependency(cluster: PostgresCluster): Promise<Dependency> {
  const signal = (name: NodeJS.Signals): void => {
    // First the process that starts others, so that the list of these is complete.
    process.kill(cluster.pid, name)
    for (const pid of childrenOf(cluster.pid)) signalIfAlive(pid, name)
  }
  return dependency('PostgreSQL', await front(addressOf(cluster.url), SLOW_STATEMENT_MS), {
    stop: () => cluster.end('SIGQUIT'),
    start: () => cluster.start(),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  })
}

function signalIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function childrenOf(parent: number): readonly number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, of]) => (of === parent ? [pid] : []))
}

export async function natsDependency(nats: NatsServer): Promise<Dependency> {
  return dependency('NATS', await front(nats.address), {
    stop: () => nats.end('SIGKILL'),
    start: () => nats.start(),
    freeze: () => void process.kill(nats.pid, 'SIGSTOP'),
    thaw: () => void process.kill(nats.pid, 'SIGCONT'),
  })
}

export async function spicedbDependency(spicedb: SpicedbServer): Promise<Dependency> {
  return dependency('SpiceDB', await front(spicedb.endpoint), {
    stop: () => spicedb.stop(),
    start: () => spicedb.start(),
    freeze: () => void process.kill(spicedb.pid, 'SIGSTOP'),
    thaw: () => void process.kill(spicedb.pid, 'SIGCONT'),
  })
}

/** A server in the process of the test: its relay is what ends and is suspended. */
export async function relayedDependency(name: string, url: string): Promise<Dependency> {
  const before = await front(addressOf(url))
  return dependency(name, before, {
    stop: async () => undefined,
    start: async () => undefined,
    freeze: () => before.relay.freeze(),
    thaw: () => before.relay.thaw(),
  })
}
