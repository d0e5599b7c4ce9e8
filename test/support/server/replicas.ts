import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startCtl, type CtlProcess } from './ctl-process.ts'
import { startPostgresCluster, type PostgresCluster } from '../datastores/postgres-cluster.ts'

/** What a call was answered with. */
export interface Answered {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface ApiCall {
  readonly token: string
  readonly method?: string
  readonly path: string
  readonly body?: unknown
}

/** Servers on one PostgreSQL, with an administrator. */
export interface Replicas {
  readonly cluster: PostgresCluster
  readonly servers: readonly CtlProcess[]
  /** API token of the bootstrap identity. */
  readonly token: string
  /** The Domain of the bootstrap identity. */
  readonly domainId: string
  /** Rows of one statement, asked of the database directly. */
  rows(statement: string): Promise<readonly Record<string, unknown>[]>
  /** Starts a server in the place of one that has ended, with further variables. */
  replace(ended: CtlProcess, env?: Readonly<Record<string, string>>): Promise<CtlProcess>
  /** Registers nodes with the first server. */
  enrol(count: number): Promise<readonly EnrolledNode[]>
  stop(): Promise<void>
}

export interface EnrolledNode {
  readonly id: string
  readonly nsk: string
}

/** Calls one server. @throws TypeError when nothing listens there. */
export async function callServer(
  server: Pick<CtlProcess, 'url'>,
  { token, method = 'GET', path, body }: ApiCall,
): Promise<Answered> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

export function heartbeatOf({ id, nsk }: EnrolledNode): ApiCall & { readonly body: object } {
  const body = { client_now: new Date().toISOString(), binary_checksum: 'ab'.repeat(32), binary_version: '1' }
  return { token: nsk, method: 'POST', path: `/v1/nodes/${id}/heartbeat`, body }
}

/** The value of a metric without labels. */
export async function metricOf({ opsUrl }: CtlProcess, name: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(20_000) })).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new Error(`there is no metric ${name}`)
  return Number(line.slice(name.length))
}

/** `settings`: variables of every server. */
export async function startReplicas(count: number, settings: Readonly<Record<string, string>> = {}): Promise<Replicas> {
  // They are killed, and the datastore is: the machine is not.
  const cluster = await startPostgresCluster({ isDurable: false })
  const folder = mkdtempSync(join(tmpdir(), 'ctl-replicas-'))
  const start = (index: number, env: Readonly<Record<string, string>> = {}): Promise<CtlProcess> =>
    startCtl({
      args: ['--data-dir', join(folder, `data-${index}`), '--bootstrap-token-file', join(folder, `token-${index}`)],
      env: {
        SERVICE_DATABASE_URL: cluster.url,
        SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        SERVICE_OPS_LISTEN: '127.0.0.1:0',
        ...settings,
        ...env,
      },
    })
  const first = await start(0)
  const others = await Promise.all(Array.from({ length: count - 1 }, (_, index) => start(index + 1)))
  const token = readFileSync(join(folder, 'token-0'), 'utf8').trim()
  const whoami = await callServer(first, { token, path: '/v1/auth/whoami' })
  const domainId = String(whoami.body['domain_id'])
  const servers = [first, ...others]
  return {
    cluster,
    servers,
    token,
    domainId,
    rows: (statement) => ask(cluster.url, statement),
    async replace(ended, env) {
      const index = servers.indexOf(ended)
      const server = await start(index, env)
      servers[index] = server
      return server
    },
    enrol: (nodes) => enrol(first, { token, domainId, nodes }),
    async stop() {
      await Promise.all(servers.map((server) => server.end('SIGTERM')))
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function ask(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Makes nodes join the Domain. */
export async function enrol(
  server: Pick<CtlProcess, 'url'>,
  { token, domainId, nodes }: { token: string; domainId: string; nodes: number },
): Promise<readonly EnrolledNode[]> {
  const path = `/v1/domains/${domainId}/join-tokens`
  const joined = await callServer(server, { token, method: 'POST', path, body: { max_uses: nodes } })
  const enrolled: EnrolledNode[] = []
  for (let index = 0; index < nodes; index++) {
    const key = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
    const body = {
      name: `node-${enrolled.length}-${key[0]}-${key[1]}`,
      kind: 'worker',
      public_key: key.toString('base64'),
    }
    const joining = { token: String(joined.body['token']), method: 'POST', path: '/v1/nodes/register', body }
    const { status, body: node } = await callServer(server, joining)
    if (status !== 201) throw new Error(`not enrolled: ${JSON.stringify(node)}`)
    enrolled.push({ id: String(node['node_id']), nsk: String(node['nsk']) })
  }
  return enrolled
}
