import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, vi } from 'vitest'
import { startCtl, type CtlProcess } from './ctl-process.ts'
import { startNatsServer, type NatsServer } from '../events/nats-server.ts'
import { freePort, startPostgresCluster, type PostgresCluster } from '../datastores/postgres-cluster.ts'
import { callServer, metricOf } from './replicas.ts'
import { requirement } from '../run/requirements.mjs'

/** Two replicas on one PostgreSQL and NATS, behind nginx: what a larger team runs. */
export interface ProxiedReplicas {
  /** Of the proxy. */
  readonly url: string
  readonly token: string
  readonly domainId: string
  readonly cluster: PostgresCluster
  readonly nats: NatsServer
  /** Environment of a command that speaks to the proxy. */
  readonly env: Readonly<Record<string, string>>
  /** Ends a replica by signal and resolves with how it ended. */
  end(index: 0 | 1, signal: 'SIGTERM' | 'SIGKILL'): Promise<unknown>
  /** Starts it again at its address. */
  start(index: 0 | 1): Promise<void>
  /** The replica that leads; waits until one does. */
  leader(): Promise<0 | 1>
  stop(): Promise<void>
}

/** What this machine lacks for them. */
export const isProxiedMissing = (['nginx', 'postgresql', 'nats-server'] as const).some(
  (name) => requirement(name) === undefined,
)

const INDEXES = [0, 1] as const

export async function startProxiedReplicas(): Promise<ProxiedReplicas> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-proxied-'))
  const [cluster, nats] = await Promise.all([startPostgresCluster({ isDurable: false }), startNatsServer()])
  const ports = [await freePort(), await freePort(), await freePort()] as const
  const launch = (index: 0 | 1): Promise<CtlProcess> =>
    startCtl({
      args: [
        '--data-dir',
        join(folder, `data-${index}`),
        '--bootstrap-token-file',
        join(folder, `token-${index}`),
        '--ops-listen',
        '127.0.0.1:0',
      ],
      listen: `127.0.0.1:${ports[index]}`,
      env: {
        SERVICE_DATABASE_URL: cluster.url,
        SERVICE_NATS_URL: `nats://${nats.address}`,
        SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        SERVICE_TRUSTED_PROXIES: '127.0.0.1/32',
      },
    })
  const servers: [CtlProcess, CtlProcess] = [await launch(0), await launch(1)]
  const url = `http://127.0.0.1:${ports[2]}`
  const proxy = startProxy(folder, ports)
  const answers = async (): Promise<void> => expect((await fetch(`${url}/livez`)).status).toBe(200)
  await vi.waitFor(answers, { timeout: 20_000, interval: 100 })
  const token = readFileSync(join(folder, 'token-0'), 'utf8').trim()
  const { body: me } = await callServer({ url }, { token, path: '/v1/auth/whoami' })

  return {
    url,
    token,
    domainId: String(me['domain_id']),
    cluster,
    nats,
    env: { CTL_URL: url, CTL_TOKEN: token, CTL_CONFIG_DIR: join(folder, 'config') },
    end: (index, signal) => servers[index].end(signal),
    async start(index) {
      servers[index] = await launch(index)
    },
    leader: () =>
      vi.waitFor(
        async () => {
          const seen = await Promise.all(
            INDEXES.map((index) => metricOf(servers[index], 'leading').catch((error: unknown) => error)),
          )
          const leading = INDEXES.find((index) => seen[index] === 1)
          if (leading !== undefined) return leading
          const logs = servers.map((server) => server.stderr().slice(-2_000))
          throw new Error(`no server leads: ${inspect(seen)}\n${logs.join('\n--\n')}`)
        },
        { timeout: 60_000, interval: 100 },
      ),
    async stop() {
      await proxy.stop()
      await Promise.all(servers.map((server) => server.end('SIGTERM')))
      await Promise.all([cluster.stop(), nats.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function startProxy(folder: string, ports: readonly number[]): { stop(): Promise<void> } {
  mkdirSync(join(folder, 'temp'))
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, ports))
  const proxy = spawn(requirement('nginx') ?? '', ['-c', file, '-p', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  return {
    async stop() {
      if (proxy.exitCode !== null) return
      const ended = once(proxy, 'exit')
      proxy.kill('SIGTERM')
      await ended
    },
  }
}

/** What the shipped configuration does, without TLS and with both replicas. */
function configuration(folder: string, [first, second, listen]: readonly number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, 'temp', kind)};`,
  )
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; worker_rlimit_nofile 16384; pid ${join(folder, 'pid')}; error_log stderr crit;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  upstream ctl { server 127.0.0.1:${first} max_fails=0; server 127.0.0.1:${second} max_fails=0; keepalive 64; }
  server {
    listen 127.0.0.1:${listen} backlog=4096;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_next_upstream error timeout http_503;
    proxy_next_upstream_tries 2;
    location / { proxy_pass http://ctl; }
    location ~ ^/v1/nodes/[^/]+/events$ { proxy_pass http://ctl; proxy_buffering off; proxy_read_timeout 24h; }
  }
}
`
}
