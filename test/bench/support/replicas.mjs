// Several servers on one PostgreSQL and one NATS, and a light fleet for each of them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgresCluster } from '../../support/datastores/postgres-cluster.mjs'
import { startNats } from './nats.mjs'
import { callApi, startCtl } from './servers.mjs'
import { HEARTBEAT_INTERVAL_S } from './simulations.mjs'

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
/** So that all servers together stay below what PostgreSQL admits. */
const POOLS = {
  SERVICE_POOL_INTERACTIVE_MAX_CONNS: '12',
  SERVICE_POOL_WORKER_MAX_CONNS: '6',
  SERVICE_POOL_BULK_MAX_CONNS: '2',
}

/** Starts so many servers, which may send `hints` a second together, with their files in `directory`. */
export async function startReplicas({ servers: count, directory, hints }) {
  const postgres = await startPostgresCluster({
    collation: ['--locale=C'],
    settings: ['max_connections=300', 'shared_buffers=512MB', 'max_wal_size=4GB'],
  })
  const nats = await startNats()
  const env = {
    ...POOLS,
    SERVICE_MASTER_KEY: MASTER_KEY,
    SERVICE_NATS_URL: nats.url,
    SERVICE_HINTS_PER_SECOND: String(hints),
  }
  const start = (index, listen) =>
    startCtl({ databaseUrl: postgres.url, env, directory: join(directory, `${index}`), listen })
  const servers = [await start(0)]
  for (let index = 1; index < count; index++) servers.push(await start(index))
  return {
    postgres,
    nats,
    servers,
    token: servers[0].token,
    /** Kills one server and starts it again at its address. */
    async restart(index) {
      const { host } = new URL(servers[index].url)
      await servers[index].kill()
      servers[index] = await start(index, host)
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()))
      await nats.stop()
      await postgres.stop()
    },
  }
}

/** Makes the Domains; resolves with their slugs. */
async function makeDomains({ servers: [server], token }, count) {
  const slugs = Array.from({ length: count }, (_, index) => `many-${index + 1}`)
  for (const slug of slugs) await callApi(server, 'POST', '/v1/domains', { token, body: { slug, display_name: slug } })
  return slugs
}

/** Parts of a list that differ by at most one in their length. */
function partsOf(list, count) {
  return Array.from({ length: count }, (_, index) =>
    list.slice(Math.floor((list.length * index) / count), Math.floor((list.length * (index + 1)) / count)),
  )
}

/** Makes Domains; resolves with the command line of each server's simulator, whose nodes are in its share of the Domains. */
export async function simulatorsOf(world, { nodes, domains, directory }) {
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, `${world.token}\n`, { mode: 0o600 })
  const shares = partsOf(await makeDomains(world, domains), world.servers.length)
  return world.servers.map((server, index) => {
    const count = Math.round((nodes * shares[index].length) / domains)
    const place = ['--url', server.url, '--token-file', tokenFile, '--state-dir', join(directory, `fleet-${index}`)]
    const load = ['--heartbeat-interval', `${HEARTBEAT_INTERVAL_S}s`, '--concurrency', '32']
    const size = ['--nodes', String(count), '--domain', shares[index].join()]
    return ['agent-sim', '--light', '--output', 'json', ...place, ...size, ...load]
  })
}
