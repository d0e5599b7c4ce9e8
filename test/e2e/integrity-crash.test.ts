import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer, type Answered } from '../support/server/replicas.ts'

const KILLS = depth({ ci: 2, deep: 10 })
/** Violations that are acknowledged before and while the server is killed. */
const DECIDED_PER_KILL = 6
/** Acknowledgements that are answered before the server is killed; the others may be lost. */
const DECIDED_MIN = 2
const NODES = 4
/** Every node reports each of them again and again. */
const ARTIFACTS = Array.from({ length: (KILLS * DECIDED_PER_KILL) / NODES }, (_, at) => `hook-${at}`)
const VIOLATIONS = KILLS * DECIDED_PER_KILL

interface Agent {
  readonly id: string
  readonly nsk: string
}

interface Violation {
  readonly id: string
  readonly node_id: string
  readonly artifact: string
  readonly status: string
  readonly occurrences: number
  readonly acknowledge_reason: string | null
}

const keyOf = (nodeId: string, artifact: string): string => `${nodeId} ${artifact}`

describe.each(STORES)('kill -9 while violations are repeated and acknowledged, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let folder: string
    let settings: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
    let stopStore: () => Promise<void> = async () => undefined
    let server: CtlProcess
    let token: string
    let agents: readonly Agent[]
    /** Reports that were answered, by node and artifact. */
    const reported = new Map<string, number>()
    /** The reason of each acknowledgement that was answered, by violation. */
    const acknowledged = new Map<string, string>()

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ctl-integrity-crash-'))
      const env: Record<string, string> = { SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
      if (store.name === 'postgres') {
        const cluster = await startMigratedCluster()
        stopStore = () => cluster.stop()
        env['SERVICE_DATABASE_URL'] = cluster.url
      }
      const files = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', join(folder, 'token')]
      settings = { args: [...files, '--no-bundled-provider'], env }
      server = await startCtl(settings)
      token = readFileSync(join(folder, 'token'), 'utf8').trim()
      agents = await enrol()
    }, 180_000)
    afterAll(async () => {
      await server?.end('SIGTERM')
      await stopStore()
      rmSync(folder, { recursive: true, force: true })
    }, 180_000)

    function ask(operation: string, body?: unknown, as = token): Promise<Answered> {
      const [method = '', path = ''] = operation.split(' ')
      return callServer(server, { token: as, method, path, body })
    }
    async function made(operation: string, body?: unknown, as = token): Promise<Answered['body']> {
      const answer = await ask(operation, body, as)
      if (answer.status >= 300) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    }

    async function enrol(): Promise<readonly Agent[]> {
      const { domain_id: domain } = await made('GET /v1/auth/whoami')
      const joining = await made(`POST /v1/domains/${String(domain)}/join-tokens`, { max_uses: NODES })
      const enrolled: Agent[] = []
      for (let n = 0; n < NODES; n++) {
        const key = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
        const node = { name: `node-${n}`, kind: 'worker', public_key: key.toString('base64') }
        const body = await made('POST /v1/nodes/register', node, String(joining['token']))
        enrolled.push({ id: String(body['node_id']), nsk: String(body['nsk']) })
      }
      return enrolled
    }

    /** Reports the violations of a node once more, and counts what was answered. */
    async function report({ id, nsk }: Agent): Promise<void> {
      const checksums = { expected_checksum: 'ab'.repeat(32), observed_checksum: 'cd'.repeat(32) }
      const detected_at = new Date().toISOString()
      const violations = ARTIFACTS.map((artifact) => ({ kind: 'hook', artifact, ...checksums, detected_at }))
      await made(`POST /v1/nodes/${id}/integrity-violations`, { violations }, nsk)
      for (const artifact of ARTIFACTS) reported.set(keyOf(id, artifact), (reported.get(keyOf(id, artifact)) ?? 0) + 1)
    }

    /** Repeats reports until nothing answers any more. */
    const reportUntilGone = (agent: Agent) =>
      untilGone(async () => {
        for (;;) await report(agent)
      })

    const listed = async (query = '') =>
      (await made(`GET /v1/integrity-violations?limit=200${query}`))['items'] as readonly Violation[]

    /** Acknowledges open violations one after the other, until nothing answers any more. */
    const acknowledgeUntilGone = (open: readonly Violation[], round: number) =>
      untilGone(async () => {
        for (const { id } of open) {
          const reason = `Decided in round ${round}.`
          await made(`POST /v1/integrity-violations/${id}/acknowledge`, { reason })
          acknowledged.set(id, reason)
        }
      })

    async function killOnce(round: number): Promise<void> {
      const open = (await listed('&status=open')).slice(0, DECIDED_PER_KILL)
      const decided = acknowledged.size + DECIDED_MIN
      const acting = [...agents.map(reportUntilGone), acknowledgeUntilGone(open, round)]
      await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThanOrEqual(decided), WAIT)
      await Promise.all([server.end('SIGKILL'), ...acting])
      server = await startCtl(settings)
    }

    test('loses no answered report, no decision, and has one row a violation', { timeout: 300_000 }, async () => {
      for (const agent of agents) await report(agent)
      for (let round = 0; round < KILLS; round++) {
        await killOnce(round)
        const rows = await listed()
        expect(rows).toHaveLength(VIOLATIONS)
        expect(new Set(rows.map(({ node_id, artifact }) => keyOf(node_id, artifact))).size).toBe(VIOLATIONS)
        for (const { node_id, artifact, occurrences } of rows)
          expect(occurrences).toBeGreaterThanOrEqual(reported.get(keyOf(node_id, artifact)) ?? Infinity)
        const decided = new Map(rows.map((row) => [row.id, [row.status, row.acknowledge_reason]]))
        for (const [id, reason] of acknowledged) expect(decided.get(id)).toEqual(['acknowledged', reason])
      }
    })
  })
})

const WAIT = { timeout: 60_000, interval: 1 }

async function untilGone(acting: () => Promise<void>): Promise<void> {
  try {
    await acting()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}
