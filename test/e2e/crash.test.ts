import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 1, deep: 10 })
const WRITERS = 8
const NODES = 16

/** What the server acknowledged before it was killed. */
interface Acknowledged {
  readonly live: Map<string, string>
  readonly revoked: Map<string, string>
  /** Last `accepted_at` by node id. */
  readonly heartbeats: Map<string, string>
}

interface Node {
  readonly id: string
  readonly nsk: string
}

const stores = [
  { name: 'embedded', isMissing: false },
  { name: 'postgres', isMissing: requirement('postgresql') === undefined },
] as const

describe.each(stores)('kill -9 under load on the $name store', ({ name, isMissing }) => {
  let directory: string
  let cluster: PostgresCluster | undefined

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ctl-crash-'))
    if (name === 'postgres' && !isMissing) cluster = await startPostgresCluster()
  })
  afterAll(async () => {
    await cluster?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  test.skipIf(isMissing)(
    `every acknowledged token, revocation and heartbeat is there afterwards, ${ROUNDS} rounds`,
    async () => {
      const start = () =>
        startCtl({
          args: ['--data-dir', join(directory, 'data'), '--bootstrap-token-file', join(directory, 'token')],
          ...(cluster && {
            env: { SERVICE_DATABASE_URL: cluster.url, SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
          }),
        })
      let server = await start()
      const token = (await readFile(join(directory, 'token'), 'utf8')).trim()
      const nodes = await enrol(server, token)
      const acknowledged: Acknowledged = { live: new Map(), revoked: new Map(), heartbeats: new Map() }
      for (let round = 0; round < ROUNDS; round++) {
        const load = underLoad({ server, token, nodes, acknowledged })
        await load.acknowledgedAtLeast(50 + round * 17)
        await server.end('SIGKILL')
        await load.ended
        server = await start()
        expect(server.stderr()).toMatch(/unclean|recover/i)
        expect(await lost(server, nodes, acknowledged)).toEqual({ tokens: [], revocations: [], heartbeats: [] })
        await clear(server, token, acknowledged)
      }
      expect(await server.end('SIGTERM')).toBe(0)
    },
    300_000,
  )
})

async function enrol(server: CtlProcess, token: string): Promise<readonly Node[]> {
  const whoami = await call(server, { token, path: '/v1/auth/whoami' })
  const joined = await call(server, {
    token,
    method: 'POST',
    path: `/v1/domains/${String(whoami['domain_id'])}/join-tokens`,
    body: { max_uses: NODES },
  })
  const nodes: Node[] = []
  for (let index = 0; index < NODES; index++) {
    const key = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
    const body = { name: `crash-${index}`, kind: 'worker', public_key: key.toString('base64') }
    const node = await call(server, {
      token: String(joined['token']),
      method: 'POST',
      path: '/v1/nodes/register',
      body,
    })
    nodes.push({ id: String(node['node_id']), nsk: String(node['nsk']) })
  }
  return nodes
}

interface Load {
  readonly server: CtlProcess
  readonly token: string
  readonly nodes: readonly Node[]
  readonly acknowledged: Acknowledged
}

/** Issues and revokes tokens and sends heartbeats until the server is gone. */
function underLoad(load: Load): { ended: Promise<unknown>; acknowledgedAtLeast(count: number): Promise<void> } {
  let count = 0
  let wake: (() => void) | undefined
  let wanted = Number.POSITIVE_INFINITY
  const acknowledge = (): void => {
    count++
    if (count >= wanted) wake?.()
  }
  const untilGone = async (step: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        await step()
        acknowledge()
      } catch (error) {
        if (error instanceof TypeError) return
        throw error
      }
    }
  }
  const ended = Promise.all([
    ...Array.from({ length: WRITERS }, (_, index) => untilGone(() => issueOrRevoke(load, index))),
    ...load.nodes.map((node) => untilGone(() => heartbeat(load, node))),
  ])
  return {
    ended,
    acknowledgedAtLeast: (least) =>
      new Promise((resolve) => {
        wanted = count + least
        wake = resolve
      }),
  }
}

/** Issues a token, and every other time revokes it; only what was answered counts as acknowledged. */
async function issueOrRevoke({ server, token, acknowledged }: Load, writer: number): Promise<void> {
  const issued = await call(server, { token, method: 'POST', path: '/v1/auth/tokens', body: { name: `w${writer}` } })
  const [id, plaintext] = [String(issued['id']), String(issued['token'])]
  acknowledged.live.set(id, plaintext)
  if (acknowledged.live.size < WRITERS * 4) return
  const [oldest] = acknowledged.live
  if (oldest === undefined) return
  acknowledged.live.delete(oldest[0])
  await call(server, { token, method: 'DELETE', path: `/v1/auth/tokens/${oldest[0]}` })
  acknowledged.revoked.set(...oldest)
}

async function heartbeat({ server, acknowledged }: Load, { id, nsk }: Node): Promise<void> {
  const body = { client_now: new Date().toISOString(), binary_checksum: 'ab'.repeat(32), binary_version: '1' }
  const answer = await call(server, { token: nsk, method: 'POST', path: `/v1/nodes/${id}/heartbeat`, body })
  acknowledged.heartbeats.set(id, String(answer['accepted_at']))
}

async function lost(server: CtlProcess, nodes: readonly Node[], { live, revoked, heartbeats }: Acknowledged) {
  const status = async (token: string): Promise<number> =>
    (await fetch(`${server.url}/v1/auth/whoami`, { headers: { authorization: `Bearer ${token}` } })).status
  const tokens: string[] = []
  for (const [id, token] of live) if ((await status(token)) !== 200) tokens.push(id)
  const revocations: string[] = []
  for (const [id, token] of revoked) if ((await status(token)) !== 401) revocations.push(id)
  const silent: string[] = []
  for (const { id, nsk } of nodes) {
    const stored = await call(server, { token: nsk, path: `/v1/nodes/${id}/reachability` })
    const last = heartbeats.get(id)
    if (last !== undefined && !(Date.parse(String(stored['last_heartbeat_at'])) >= Date.parse(last))) silent.push(id)
  }
  return { tokens, revocations, heartbeats: silent }
}

/** Revokes what is left, so that the next round begins below the limit of live tokens. */
async function clear(server: CtlProcess, token: string, { live, revoked }: Acknowledged): Promise<void> {
  const listed = await fetch(`${server.url}/v1/auth/tokens`, { headers: { authorization: `Bearer ${token}` } })
  const own: readonly { id: string; name: string; revoked_at: string | null }[] = JSON.parse(await listed.text())
  for (const { id, name, revoked_at: revokedAt } of own) {
    if (revokedAt === null && /^w\d/.test(name))
      await call(server, { token, method: 'DELETE', path: `/v1/auth/tokens/${id}` })
  }
  live.clear()
  revoked.clear()
}

interface Call {
  readonly token: string
  readonly path: string
  readonly method?: string
  readonly body?: unknown
}

/** Calls the API once. Throws `TypeError` when the server is gone, as `fetch` does, and `Error` on any other failure. */
async function call(server: CtlProcess, { token, path, method = 'GET', body }: Call): Promise<Record<string, unknown>> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? {} : JSON.parse(text)
}
