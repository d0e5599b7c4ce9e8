import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'
import { runPythonAgent, startPythonAgent, testPythonAgent, type PythonAgent } from '../support/fleet/python-agent.ts'
import { requirement } from '../support/run/requirements.mjs'

const VECTORS = fileURLToPath(new URL('../../docs/vectors', import.meta.url))
const PYTHON = requirement('python3-cryptography')
const python = PYTHON ?? ''

describe.skipIf(PYTHON === undefined)(
  'the agent in Python, written from the protocol document',
  () => {
    test('agrees with every published vector: forged frames, older epochs and altered envelopes among them', () => {
      const { exitCode, last } = runPythonAgent(python, ['vectors', VECTORS])
      expect([exitCode, last]).toEqual([0, expect.objectContaining({ event: 'vectors', failed: 0 })])
      expect(last?.['passed']).toBeGreaterThanOrEqual(90)
    })

    test('holds its own tests: lost answers, late hints, old epochs, restarts', () => {
      expect(testPythonAgent(python)).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Ran \d\d tests/m) })
    })

    test.each([
      ['edge-epoch', '"acceptable": false', '"acceptable": true'],
      ['event-signature', '"fault": "bad_signature"', '"fault": "expired_key"'],
      ['edge-envelope', '"edge_key_hex": "67', '"edge_key_hex": "68'],
      ['node-secrets', '"secret": "correct horse"', '"secret": "another horse"'],
    ])('says so where the vectors %s expect something else', (file, correct, wrong) => {
      const folder = mkdtempSync(join(tmpdir(), 'ctl-vectors-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      cpSync(VECTORS, folder, { recursive: true })
      const path = join(folder, `${file}.json`)
      writeFileSync(path, readFileSync(path, 'utf8').replace(correct, wrong))
      expect(runPythonAgent(python, ['vectors', folder])).toMatchObject({ exitCode: 1, last: { failed: 1 } })
    })

    describe('with a server', () => {
      let folder: string
      let server: CtlProcess
      let web: PythonAgent
      let db: PythonAgent

      const stateOf = (name: string): string => join(folder, `${name}.json`)
      const ctl = async (...args: readonly string[]): Promise<string> => {
        const files = { CTL_TOKEN_FILE: join(folder, 'data', 'bootstrap-token'), CTL_CONFIG_DIR: folder }
        const result = await runCtl(args, { CTL_URL: server.url, ...files })
        expect(result).toMatchObject({ exitCode: 0 })
        return result.stdout
      }
      const asked = async (...args: readonly string[]) => JSON.parse(await ctl(...args, '-o', 'json'))

      function start(name: string, ...more: readonly string[]): PythonAgent {
        const args = ['--url', server.url, '--state', stateOf(name), '--heartbeat-seconds', '1', ...more]
        return startPythonAgent(python, args)
      }

      function enrolled(name: string, address: string): PythonAgent {
        const joining = ['--name', name, '--join-token-file', join(folder, 'join-token')]
        return start(name, ...joining, '--endpoint', `${address}:51820`)
      }

      /** The newest key of the only edge of an agent, as it may be told, and the epoch as the agent has it. */
      function edgeOf(agent: PythonAgent) {
        const edge = agent.said('edge').at(-1)
        return { key: edge?.['key_sha256'], halves: String(edge?.['epoch']).split('|') }
      }

      async function agree(): Promise<{ readonly key: unknown; readonly halves: readonly string[] }> {
        // Both are asked each time: either may be the one that moves on.
        await vi.waitFor(
          () => expect({ ...edgeOf(web), halves: edgeOf(web).halves.toReversed() }).toEqual(edgeOf(db)),
          { timeout: 30_000, interval: 100 },
        )
        return edgeOf(web)
      }

      async function reported(agent: PythonAgent, count: number): Promise<void> {
        await expect.poll(() => agent.said('digest').length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
      }

      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'ctl-python-'))
        server = await startCtl({ args: ['--data-dir', join(folder, 'data')] })
        const { token } = await asked('join-tokens', 'create', '--max-uses', '2')
        writeFileSync(join(folder, 'join-token'), token, { mode: 0o600 })
        web = enrolled('web-1', '203.0.113.7')
        db = enrolled('db-1', '203.0.113.8')
        for (const agent of [web, db]) {
          await vi.waitFor(() => expect(agent.said('edge').length).toBeGreaterThanOrEqual(1), { timeout: 30_000 })
        }
      }, 240_000)

      afterAll(async () => {
        await Promise.all([web, db].map((agent) => agent?.interrupt()))
        await server?.end('SIGTERM')
        rmSync(folder, { recursive: true, force: true })
      }, 180_000)

      test('two of them enrol, are healthy, pull their state and open the same key of their edge', async () => {
        const { items } = await asked('nodes', 'list')
        expect(items.map((node: Record<string, unknown>) => [node['display_name'], node['reachability']])).toEqual(
          expect.arrayContaining([
            ['web-1', 'healthy'],
            ['db-1', 'healthy'],
          ]),
        )
        for (const agent of [web, db]) {
          expect(agent.said('pull')[0]).toMatchObject({ status: 200 })
          expect(agent.said('event_refused')).toEqual([])
        }
        expect((await agree()).key).toMatch(/^[0-9a-f]{64}$/)
        expect(statSync(stateOf('web-1')).mode & 0o777).toBe(0o600)
      })

      test('a rotation of one takes both to the newer epoch, and the server confirms what they report', async () => {
        await Promise.all([reported(web, 1), reported(db, 1)])
        const before = await agree()
        const reports = [web, db].map((agent) => agent.said('digest').length)
        await ctl('nodes', 'rotate', 'web-1', '--yes')
        await expect.poll(() => edgeOf(db).key, { timeout: 20_000 }).not.toBe(before.key)
        const after = await agree()
        expect([after.halves[0] === before.halves[0], after.halves[1]]).toEqual([false, before.halves[1]])
        await Promise.all([reported(web, (reports[0] ?? 0) + 1), reported(db, (reports[1] ?? 0) + 1)])
        await expect
          .poll(() => asked('nodes', 'verify-epochs'), { timeout: 30_000 })
          .toMatchObject({ nodes_checked: 2, agreeing: 2, edges_checked: 2, disagreeing: [] })
      })

      test('a rename reaches the node itself and its peer', async () => {
        const heard = web.said('event').length
        const edges = web.said('edge').length
        await ctl('nodes', 'update', 'db-1', '--name', 'db-9')
        await expect.poll(() => db.said('self').at(-1), { timeout: 20_000 }).toMatchObject({ name: 'db-9' })
        await expect.poll(() => web.said('event').length, { timeout: 20_000 }).toBeGreaterThan(heard)
        await ctl('nodes', 'rotate', 'web-1', '--yes')
        await expect
          .poll(() => web.said('edge').slice(edges).at(-1), { timeout: 20_000 })
          .toMatchObject({ name: 'db-9' })
        await ctl('nodes', 'update', 'db-9', '--name', 'db-1')
        await expect.poll(() => db.said('self').at(-1), { timeout: 20_000 }).toMatchObject({ name: 'db-1' })
      })

      test('an execution is carried out once, and one that is not known fails with its reason', async () => {
        for (const action of ['ping', 'reload_config']) await ctl('executions', 'create', 'web-1', action)
        await expect
          .poll(async () => (await asked('executions', 'list', 'web-1')).items, { timeout: 20_000 })
          .toMatchObject([
            { action: 'reload_config', status: 'failed', error: expect.stringContaining('does not know') },
            { action: 'ping', status: 'succeeded', exit_code: 0, output: 'pong' },
          ])
        expect(web.said('execution').map(({ action }) => action)).toEqual(['ping', 'reload_config'])
      })

      test('the token of a session is let in by its node alone, and not once it is revoked', async () => {
        const place = ['--project', 'default']
        const session = ['--node', 'web-1', '--kind', 'ssh', '--target', 'deploy']
        const issued = await asked('mediated-sessions', 'create', ...place, ...session)
        const check = (name: string) =>
          runPythonAgent(python, ['check-token', '--url', server.url, '--state', stateOf(name)], issued.token)
        expect(check('web-1')).toMatchObject({ exitCode: 0, last: { admitted: true, target: 'deploy' } })
        expect(check('db-1')).toMatchObject({ exitCode: 1, last: { admitted: false, fault: 'wrong_node' } })
        await ctl('mediated-sessions', 'revoke', issued.session_id, '--yes', ...place)
        expect(check('web-1')).toMatchObject({ exitCode: 1, last: { admitted: false, fault: 'not_live' } })
      })

      test('hosts a bridge: applies it, opens its secrets in each version, reports both, and stops', async () => {
        const token = readFileSync(join(folder, 'data', 'bootstrap-token'), 'utf8').trim()
        const call = async (method: string, path: string, body?: unknown) => {
          const answer = await callServer(server, { token, method, path, ...(body !== undefined && { body }) })
          expect(answer.status, `${method} ${path}`).toBeLessThan(300)
          return answer.body
        }
        const { domain_id: domainId } = await call('GET', '/v1/auth/whoami')
        const { slug } = await call('GET', `/v1/domains/${String(domainId)}`)
        const names = { slug: 'edge', display_name: 'Edge' }
        const { id: projectId } = await call('POST', `/v1/domains/${String(domainId)}/projects`, names)
        const project = `/v1/projects/${String(projectId)}`
        const { items } = await call('GET', '/v1/nodes')
        const hosts = (items as readonly { readonly id: string }[]).map(({ id }) => id)
        const { id } = await call('POST', `${project}/resources`, { kind: 'bridge', ...names, host_node_ids: hosts })
        const bridge = `${project}/resources/${String(id)}/bridge`
        const ref = `secret:${String(slug)}/edge/hq`
        await call('PUT', `${project}/secrets/hq`, { value: 'correct horse' })
        await call('POST', `${bridge}/site-to-site`, {
          slug: 'hq',
          kind: 'wireguard',
          remote_host: 'vpn.example.org',
          remote_port: 51_820,
          auth_secret_ref: ref,
          allowed_subnets: ['192.168.1.0/24'],
          routing_policy: 'bidirectional',
        })
        const status = () => call('GET', `${bridge}/status`)
        const inSync = (version: number) => ({
          secrets: { [ref]: version },
          hosts: hosts
            .toSorted()
            .map((node_id) => ({ node_id, in_sync: true, secrets: { [ref]: version }, error: null })),
        })
        await expect.poll(status, { timeout: 20_000 }).toMatchObject(inSync(1))
        await call('PUT', `${project}/secrets/hq`, { value: 'battery staple' })
        await expect.poll(status, { timeout: 20_000 }).toMatchObject(inSync(2))
        await call('DELETE', `${project}/resources/${String(id)}`)
        const ended = { bridge_resource_id: id, report: null }
        for (const agent of [web, db]) {
          await expect.poll(() => agent.said('bridge').at(-1), { timeout: 20_000 }).toMatchObject(ended)
          expect([...agent.said('bridge_refused'), ...agent.said('secret_refused')]).toEqual([])
        }
      })

      test('it ends in order on Ctrl-C, and goes on where it stopped: with its events, its epochs and what was asked meanwhile', async () => {
        const before = await agree()
        expect(await db.interrupt()).toEqual({ exitCode: 0, stderr: '' })
        expect(db.said('stopped')).toHaveLength(1)
        await ctl('nodes', 'rotate', 'db-1', '--yes', '--no-wait')
        db = start('db-1')
        await expect.poll(() => edgeOf(web).key, { timeout: 30_000 }).not.toBe(before.key)
        expect((await agree()).halves[0]).toBe(before.halves[0])
        expect(db.said('stream')[0]?.['after']).toMatch(/^\d+$/)
        expect(db.said('rotated')).toHaveLength(1)
        expect([db, web].flatMap((agent) => [...agent.said('edge_refused'), ...agent.said('event_refused')])).toEqual(
          [],
        )
      })

      test('it stops when its key is revoked, and says what to do', async () => {
        await ctl('nodes', 'nsk', 'revoke', 'web-1', '--yes')
        expect(await web.ended()).toBe(3)
        expect(web.said('gone')).toMatchObject([{ code: 'nsk_revoked' }])
      })
    })
  },
  120_000,
)
