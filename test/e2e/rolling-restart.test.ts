import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess, type CtlResult } from '../support/ctl-process.ts'
import { startNatsServer, type NatsServer } from '../support/nats-server.ts'
import { freePort, startPostgresCluster, type PostgresCluster } from '../support/postgres-cluster.ts'
import { callServer, enrol } from '../support/replicas.ts'
import { requirement } from '../support/requirements.mjs'
import { startSimulation } from '../support/simulation.ts'

const nginx = requirement('nginx')
const isMissing =
  nginx === undefined || requirement('postgresql') === undefined || requirement('nats-server') === undefined

const AGENTS = 1_000
const FAIL_ON = 'missed_events>0,bad_signatures>0'

describe.skipIf(isMissing)('two replicas behind a proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-rolling-'))
  let cluster: PostgresCluster
  let nats: NatsServer
  let proxy: ChildProcess
  let url: string
  const ports: number[] = []
  const servers: CtlProcess[] = []

  const start = (index: number): Promise<CtlProcess> =>
    startCtl({
      args: ['--data-dir', join(folder, `data-${index}`), '--bootstrap-token-file', join(folder, `token-${index}`)],
      listen: `127.0.0.1:${ports[index]}`,
      env: {
        SERVICE_DATABASE_URL: cluster.url,
        SERVICE_NATS_URL: `nats://${nats.address}`,
        SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        SERVICE_TRUSTED_PROXIES: '127.0.0.1/32',
      },
    })

  beforeAll(async () => {
    ;[cluster, nats] = await Promise.all([startPostgresCluster(), startNatsServer()])
    ports.push(await freePort(), await freePort(), await freePort())
    servers.push(await start(0))
    servers.push(await start(1))
    url = `http://127.0.0.1:${ports[2]}`
    mkdirSync(join(folder, 'temp'))
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, configuration(folder, ports))
    proxy = spawn(nginx ?? '', ['-c', file, '-p', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
    const answers = async (): Promise<void> => expect((await fetch(`${url}/livez`)).status).toBe(200)
    await vi.waitFor(answers, { timeout: 20_000, interval: 100 })
  }, 180_000)
  afterAll(async () => {
    if (proxy.exitCode === null) {
      const ended = once(proxy, 'exit')
      proxy.kill('SIGTERM')
      await ended
    }
    await Promise.all(servers.map((server) => server.end('SIGTERM')))
    await Promise.all([cluster.stop(), nats.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    'restart one after the other under a thousand agents: no event is missed, and every call of the command line succeeds',
    { timeout: 600_000 },
    async () => {
      const token = readFileSync(join(folder, 'token-0'), 'utf8').trim()
      const { body: me } = await callServer({ url }, { token, path: '/v1/auth/whoami' })
      const domainId = String(me['domain_id'])
      const env = { CTL_URL: url, CTL_TOKEN: token, CTL_CONFIG_DIR: join(folder, 'config') }
      const args = ['--nodes', String(AGENTS), '--duration', '45s', '--heartbeat-interval', '5s', '--no-mesh']
      const fleet = startSimulation(env, [...args, '--fail-on', FAIL_ON, '-o', 'json'])
      await expect.poll(fleet.said, { timeout: 240_000 }).toContain('"phase":"running"')
      const calling = new AbortController()
      const calls = exitCodesUntil(calling.signal, () => runCtl(['nodes', 'list', '--limit', '1'], env))
      for (const index of [0, 1]) {
        expect(await servers[index]?.end('SIGTERM')).toBe(0)
        // A thousand nodes have to hear of each node that comes while one of the replicas is away.
        await enrol({ url }, { token, domainId, nodes: 3 })
        servers[index] = await start(index)
      }
      await enrol({ url }, { token, domainId, nodes: 3 })
      calling.abort()
      expect(new Set(await calls)).toEqual(new Set([0]))
      const { exitCode, stdout, stderr } = await fleet.ended
      expect([exitCode, stderr.split('\n').slice(-5)]).toMatchObject([0, expect.anything()])
      const { events, missed_events: missed } = JSON.parse(stdout) as Record<string, number>
      expect(missed).toBe(0)
      expect(events).toBeGreaterThan(3 * AGENTS)
    },
  )
})

/** Makes one call after another. */
async function exitCodesUntil(
  signal: AbortSignal,
  call: () => Promise<CtlResult>,
): Promise<readonly (number | null)[]> {
  const codes: (number | null)[] = []
  while (!signal.aborted) codes.push((await call()).exitCode)
  return codes
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
