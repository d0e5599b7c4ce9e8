import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSpicedb } from '../authz/spicedb-server.ts'
import { startPostgresCluster, type PostgresCluster } from '../datastores/postgres-cluster.ts'
import { startNatsServer } from '../events/nats-server.ts'
import { startBaoEmulator, type BaoEmulator } from '../openbao/emulator.ts'
import {
  natsDependency,
  postgresDependency,
  relayedDependency,
  spicedbDependency,
  type Dependency,
} from './dependencies.ts'
import { startPlane, type Plane } from './plane.ts'

/** A dependency that a world can take away. Without its name a server has the built-in counterpart. */
export type DependencyName = 'PostgreSQL' | 'NATS' | 'SpiceDB' | 'OpenBao' | 'Transit'

/** A server on PostgreSQL, and what it depends on. */
export interface World {
  readonly folder: string
  readonly plane: Plane
  /** In the order of their names. */
  readonly dependencies: readonly Dependency[]
  readonly bao: BaoEmulator
  /** Throws where the dependency was not started. */
  given(name: DependencyName): Dependency
  /** Settings with which another server uses the dependency. */
  settingsOf(name: DependencyName): Settings
  /** Stops the dependency while the work lasts. */
  away(name: DependencyName, work: () => Promise<unknown>): Promise<void>
  end(): Promise<void>
}

type Settings = Readonly<Record<string, string>>

interface Started {
  readonly dependency: Dependency
  readonly settings: Settings
  /** What was started for it alone. */
  stop(): Promise<unknown>
}

interface Ground {
  readonly folder: string
  readonly cluster: PostgresCluster
  /** Of an empty database of the cluster, past any relay. */
  readonly databaseUrl: string
  readonly bao: BaoEmulator
}

/** Starts the dependencies, and a server that reaches each of them through a relay. */
export async function startWorld(names: readonly DependencyName[]): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-outages-'))
  const [cluster, bao] = await Promise.all([startPostgresCluster({ isDurable: false }), startBaoEmulator()])
  const ground = { folder, cluster, bao, databaseUrl: await cluster.createDatabase() }
  const all = await Promise.all(names.map(async (name) => [name, await STARTS[name](ground)] as const))
  const started = new Map(all)
  const plane = await startPlane(folder, {
    SERVICE_DATABASE_URL: ground.databaseUrl,
    ...Object.assign({}, ...all.map(([, { settings }]) => settings)),
  })
  const found = (name: DependencyName): Started => {
    const one = started.get(name)
    if (one === undefined) throw new Error(`${name} was not started`)
    return one
  }
  const given = (name: DependencyName): Dependency => found(name).dependency
  return {
    folder,
    plane,
    dependencies: names.map(given),
    bao,
    given,
    settingsOf: (name) => found(name).settings,
    async away(name, work) {
      await given(name).fail('stopped')
      try {
        await work()
      } finally {
        await given(name).recover('stopped')
      }
    },
    async end() {
      await plane.stop()
      await Promise.all(all.map(([, { dependency }]) => dependency.close()))
      await Promise.all([cluster.stop(), bao.stop(), ...all.map(([, each]) => each.stop())])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const nothing = async (): Promise<void> => undefined

const STARTS: Readonly<Record<DependencyName, (ground: Ground) => Promise<Started>>> = {
  async PostgreSQL({ cluster, databaseUrl }) {
    const dependency = await postgresDependency(cluster)
    const url = new URL(databaseUrl)
    url.host = dependency.address
    return { dependency, settings: { SERVICE_DATABASE_URL: url.href }, stop: nothing }
  },
  async NATS() {
    const server = await startNatsServer()
    const dependency = await natsDependency(server)
    return {
      dependency,
      settings: { SERVICE_NATS_URL: `nats://${dependency.address}` },
      stop: () => server.stop(),
    }
  },
  async SpiceDB({ folder }) {
    const server = await startSpicedb()
    const dependency = await spicedbDependency(server)
    const settings = {
      SERVICE_SPICEDB_ENDPOINT: dependency.address,
      SERVICE_SPICEDB_TOKEN_FILE: secretFile(folder, 'spicedb-token', server.token),
    }
    return { dependency, settings, stop: () => server.close() }
  },
  async OpenBao({ folder, bao }) {
    const dependency = await relayedDependency('OpenBao', bao.url)
    const settings = {
      SERVICE_SECRET_STORE_URL: `http://${dependency.address}`,
      SERVICE_SECRET_STORE_TOKEN_FILE: secretFile(folder, 'store-token', bao.issue()),
    }
    return { dependency, settings, stop: nothing }
  },
  async Transit({ folder, bao }) {
    const dependency = await relayedDependency('Transit', bao.url)
    bao.transit.create('ctl', { type: 'ed25519' })
    const settings = {
      SERVICE_SIGNER_URL: `http://${dependency.address}/transit/ctl`,
      SERVICE_SIGNER_TOKEN_FILE: secretFile(folder, 'signer-token', bao.issue()),
    }
    return { dependency, settings, stop: nothing }
  },
}

function secretFile(folder: string, name: string, secret: string): string {
  const path = join(folder, name)
  writeFileSync(path, secret, { mode: 0o600 })
  return path
}
