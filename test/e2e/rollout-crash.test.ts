import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import { STORES } from '../support/datastores/stores.ts'
import { checksumOfRelease } from '../support/releases/add-release.ts'
import { publishSignedReleases } from '../support/releases/signed-releases.ts'
import { depth } from '../support/run/depth.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer, type Answered } from '../support/server/replicas.ts'

const SELECTED = 12
const OUTSIDE = 3
/** How often the server is killed while nodes are upgrading. */
const KILLS = depth({ ci: 3, deep: 12 })
const TO = '2.0.0'

const WITHOUT_SYNC = new URL('../support/datastores/without-sync.mjs', import.meta.url).href
const KILL_AT_STATEMENT = new URL('../support/datastores/kill-at-statement.mjs', import.meta.url)

/** Statements of a pass of the leader at which it is killed, on PostgreSQL: within its transaction, and around its end. */
const STATEMENTS = [
  ['insert into "executions"', 'answered'],
  ['update rollout_nodes as turn', 'answered'],
  ['update "rollouts" set', 'after'],
] as const

interface Agent {
  readonly id: string
  readonly nsk: string
  version: string
}

describe.each(STORES)('kill -9 in the middle of a wave, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let folder: string
    let settings: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
    let stopStore: () => Promise<void> = async () => undefined
    let server: CtlProcess
    let token: string
    let domain: string
    let agents: Agent[]

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ctl-rollout-crash-'))
      const trust = await publishSignedReleases(join(folder, 'releases'), ['1.0.0', TO])
      const env: Record<string, string> = { SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
      if (store.name === 'postgres') {
        const cluster = await startMigratedCluster()
        stopStore = () => cluster.stop()
        env['SERVICE_DATABASE_URL'] = cluster.url
      }
      const files = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', join(folder, 'token')]
      settings = { args: [...files, '--no-bundled-provider', ...trust], env }
      server = await startCtl(settings)
      token = readFileSync(join(folder, 'token'), 'utf8').trim()
      domain = String((await ask('GET /v1/auth/whoami')).body['domain_id'])
      agents = [...(await enrol(SELECTED, { env: 'in' })), ...(await enrol(OUTSIDE, { env: 'out' }))]
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
    async function made(operation: string, body?: unknown): Promise<Answered['body']> {
      const answer = await ask(operation, body)
      if (answer.status >= 300) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    }

    async function enrol(count: number, labels: Readonly<Record<string, string>>): Promise<Agent[]> {
      const joining = await made(`POST /v1/domains/${domain}/join-tokens`, { max_uses: count, labels })
      const enrolled: Agent[] = []
      for (let n = 0; n < count; n++) {
        const key = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
        const node = { name: `${labels['env']}-${n}`, kind: 'worker', public_key: key.toString('base64') }
        const { body } = await ask('POST /v1/nodes/register', node, String(joining['token']))
        enrolled.push({ id: String(body['node_id']), nsk: String(body['nsk']), version: '1.0.0' })
      }
      return enrolled
    }

    async function beat({ id, nsk, version }: Agent): Promise<void> {
      const build = { binary_version: version, binary_checksum: checksumOfRelease(version, 'x86_64') }
      await ask(`POST /v1/nodes/${id}/heartbeat`, { client_now: new Date().toISOString(), ...build }, nsk)
    }

    const upgradesOf = async ({ id }: Agent, query = '') =>
      (await made(`GET /v1/nodes/${id}/executions${query}`))['items'] as readonly { readonly execution_id: string }[]

    /** What an agent does in its turn: takes up what it is asked for, and runs what it was upgraded to. */
    async function act(agent: Agent): Promise<void> {
      for (const { execution_id: execution } of await upgradesOf(agent, '?status=pending')) {
        const path = `POST /v1/nodes/${agent.id}/executions/${execution}`
        for (const status of ['ack', 'started', 'succeeded']) await ask(path, { status }, agent.nsk)
        agent.version = TO
      }
      await beat(agent)
    }

    const statesOf = async (id: string) => {
      const { items } = await made(`GET /v1/rollouts/${id}/nodes?limit=200`)
      return (items as readonly { readonly state: string }[]).map(({ state }) => state)
    }

    /** The server is killed while the agents act, and starts again. On PostgreSQL it kills itself at a statement. */
    async function killOnce(id: string, round: number): Promise<void> {
      const [begins, when] = STATEMENTS[round % STATEMENTS.length] ?? STATEMENTS[0]
      if (store.name === 'postgres') {
        await server.end('SIGTERM')
        const preload = new URL(KILL_AT_STATEMENT)
        preload.search = new URLSearchParams({ begins, when }).toString()
        const env = { ...settings.env, NODE_OPTIONS: `--import=${WITHOUT_SYNC} --import=${preload.href}` }
        server = await startCtl({ ...settings, env })
        const ending = server.ended()
        const acting = actUntilGone()
        expect([begins, await ending]).toEqual([begins, 'SIGKILL'])
        await acting
      } else {
        await vi.waitFor(async () => expect(await statesOf(id)).toContain('upgrading'), WAIT)
        await Promise.all([server.end('SIGKILL'), actUntilGone()])
      }
      server = await startCtl(settings)
    }

    /** Acts for all agents until nothing answers any more. */
    async function actUntilGone(): Promise<void> {
      try {
        for (;;) {
          for (const agent of agents) await act(agent)
          await pause(50)
        }
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
    }

    test('no node is upgraded twice, and none outside of the selector', { timeout: 400_000 }, async () => {
      await vi.waitFor(async () => {
        const { body } = await ask('GET /v1/artifacts/plexd')
        expect(body['items']).toHaveLength(2)
      }, WAIT)
      for (const agent of agents) await beat(agent)
      const plan = { slug: 'crash', version: TO, selector: 'env=in', max_in_flight: 2, canaries: 1 }
      const waves = [{ percent: 50 }, { percent: 100 }]
      const { id } = await made(`POST /v1/domains/${domain}/rollouts`, { ...plan, waves })
      await made(`POST /v1/rollouts/${String(id)}/start`)
      for (let round = 0; round < KILLS; round++) await killOnce(String(id), round)
      await vi.waitFor(async () => {
        for (const agent of agents) await act(agent)
        expect((await made(`GET /v1/rollouts/${String(id)}`))['status']).toBe('completed')
      }, WAIT)
      expect(await statesOf(String(id))).toEqual(Array(SELECTED).fill('done'))
      const upgrades: number[] = []
      for (const agent of agents) upgrades.push((await upgradesOf(agent)).length)
      expect(upgrades).toEqual([...Array<number>(SELECTED).fill(1), ...Array<number>(OUTSIDE).fill(0)])
    })
  })
})

const WAIT = { timeout: 90_000, interval: 100 }
