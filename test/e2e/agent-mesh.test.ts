import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AgentStatus, PeerRow } from '../../src/cli/agent/control/agent-status.ts'
import { pings, processesOf, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { requirement } from '../support/run/requirements.mjs'

const NAMES = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5']
const SOON = { timeout: 60_000, interval: 200 }

describe.skipIf(requirement('mesh-lab') === undefined)('five machines with real agents', () => {
  let mesh: AgentMesh
  let boxes: readonly Box[]
  const box = (number: number): Box => boxes[number - 1] ?? neverMade()
  const status = async (one: Box): Promise<AgentStatus> =>
    JSON.parse((await mesh.agent(one, 'status', '-o', 'json')).stdout) as AgentStatus
  const addressOf = async (one: Box): Promise<string> => (await status(one)).mesh_address
  const peersOf = async (one: Box): Promise<readonly PeerRow[]> =>
    JSON.parse((await succeeded(mesh.agent(one, 'peers', '-o', 'json'))).stdout) as readonly PeerRow[]

  beforeAll(async () => {
    mesh = await startAgentMesh('ctlmesh')
    boxes = await Promise.all(NAMES.map((name) => mesh.lab.box(name)))
    for (const one of boxes) await succeeded(mesh.up(one, '--hosts'))
  }, 180_000)
  afterAll(() => mesh?.close(), 60_000)

  test('ping each other by address and by name, each pair over the tunnel', async () => {
    const addresses = new Map(await Promise.all(boxes.map(async (one) => [one, await addressOf(one)] as const)))
    for (const from of boxes) {
      for (const to of boxes.filter((one) => one !== from)) {
        await vi.waitFor(async () => expect(await pings(mesh, from, addresses.get(to) ?? '')).toBe(true), SOON)
        await vi.waitFor(async () => expect(await pings(mesh, from, `${to.name}.mesh`)).toBe(true), SOON)
      }
    }
    expect(await peersOf(box(1))).toEqual(
      NAMES.slice(1).map((name) => expect.objectContaining({ name, path: 'direct' }) as unknown),
    )
  }, 300_000)

  test('route each peer alone, never the whole mesh', async () => {
    const { stdout } = await mesh.lab.exec(box(1), ['ip', '-j', 'route', 'show', 'dev', 'ctl0'])
    const routes = (JSON.parse(stdout) as readonly { readonly dst: string }[]).map(({ dst }) => dst)
    const others = await Promise.all(boxes.slice(1).map(addressOf))
    expect(routes.toSorted()).toEqual([...others].toSorted())
  })

  test('go on when an agent is killed, and its successor takes the tunnels over', async () => {
    const address = await addressOf(box(2))
    process.kill(mesh.agentPid(box(2)), 'SIGKILL')
    const [before] = await processesOf(box(2), 'wireguard-go')
    expect(await pings(mesh, box(1), address)).toBe(true)
    expect((await mesh.agent(box(2), 'status')).exitCode).toBe(10)
    const running = mesh.agent(box(2), 'up')
    expect(await pings(mesh, box(1), address)).toBe(true)
    await succeeded(running)
    expect(await pings(mesh, box(1), address)).toBe(true)
    expect(await processesOf(box(2), 'wireguard-go')).toEqual([before])
  }, 120_000)

  test('refuse a second agent with the same state folder, and start no second one by up', async () => {
    const second = await mesh.agent(box(3), 'run')
    expect(second).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('already runs as process') as string })
    expect(await mesh.agent(box(3), 'up')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`as process ${mesh.agentPid(box(3))}`) as string,
    })
  })

  test('refuse another server on a machine that is enrolled', async () => {
    process.kill(mesh.agentPid(box(3)), 'SIGTERM')
    await vi.waitFor(() => expect(existsSync(join(mesh.stateDirectory(box(3)), 'agent.lock'))).toBe(false), SOON)
    const other = await mesh.agent(box(3), 'up', '--server', 'https://other.example.org')
    expect(other).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('is a node of') as string })
    await succeeded(mesh.agent(box(3), 'up'))
  }, 120_000)

  test('enforce a policy within two seconds, count what it drops, and end with it', async () => {
    const address = await addressOf(box(1))
    expect(await pings(mesh, box(2), address)).toBe(true)
    const rule = ['--isolates', 'ingress', '--rule', 'ingress tcp:22 from *']
    await succeeded(mesh.operator('policies', 'create', 'only-ssh', '--selector', '*', ...rule))
    const isBlocked = async (): Promise<boolean> =>
      (await mesh.lab.exec(box(2), ['ping', '-c', '1', '-W', '0.2', address])).exitCode !== 0
    await vi.waitFor(async () => expect(await isBlocked()).toBe(true), { timeout: 2_000, interval: 50 })
    const { rules, count } = (await status(box(1))).policies
    expect(count).toBe(1)
    expect(rules.find(({ action }) => action === 'drop')?.packets).toBeGreaterThan(0)
    await succeeded(mesh.operator('policies', 'delete', 'only-ssh', '--yes'))
    await vi.waitFor(async () => expect(await pings(mesh, box(2), address)).toBe(true), SOON)
  }, 120_000)

  test('carry out an execution and a restart, without a lost packet', async () => {
    const address = await addressOf(box(4))
    const before = mesh.agentPid(box(4))
    const stream = mesh.lab.exec(box(1), ['ping', '-i', '0.2', '-c', '25', address], { timeoutMs: 30_000 })
    for (const action of ['ping', 'restart_agent'])
      await succeeded(mesh.operator('executions', 'create', 'web-4', action))
    await vi.waitFor(() => expect(mesh.agentPid(box(4))).not.toBe(before), SOON)
    expect((await stream).stdout).toContain(' 0% packet loss')
    const listed = await succeeded(mesh.operator('executions', 'list', 'web-4', '-o', 'json'))
    const { items } = JSON.parse(listed.stdout) as { readonly items: readonly { readonly status: string }[] }
    expect(items.map(({ status: one }) => one)).toEqual(['succeeded', 'succeeded'])
  }, 120_000)

  test('keep their tunnels while the server is away, and their agents reach it again', async () => {
    const address = await addressOf(box(5))
    await mesh.killServer()
    await vi.waitFor(async () => expect((await status(box(1))).server.reachable).toBe(false), {
      timeout: 60_000,
      interval: 500,
    })
    expect(await pings(mesh, box(1), address)).toBe(true)
    await mesh.startServer()
    await vi.waitFor(async () => expect((await status(box(1))).server.reachable).toBe(true), {
      timeout: 60_000,
      interval: 500,
    })
  }, 150_000)

  test('follow the rename of a node by name', async () => {
    await succeeded(mesh.operator('nodes', 'update', 'web-4', '--name', 'db-4'))
    await vi.waitFor(async () => expect(await pings(mesh, box(1), 'db-4.mesh')).toBe(true), SOON)
    expect(readFileSync('/etc/hosts', 'utf8')).not.toContain('db-4')
    await vi.waitFor(async () => expect((await status(box(4))).name).toBe('db-4'), { timeout: 60_000, interval: 200 })
  }, 120_000)

  test('lose a node that is deregistered, which takes everything down and says why', async () => {
    const address = await addressOf(box(5))
    await succeeded(mesh.operator('nodes', 'deregister', 'web-5', '--yes'))
    await vi.waitFor(async () => expect((await peersOf(box(1))).map(({ name }) => name)).not.toContain('web-5'), SOON)
    await vi.waitFor(() => expect(existsSync(join(mesh.stateDirectory(box(5)), 'agent.lock'))).toBe(false), {
      timeout: 60_000,
      interval: 500,
    })
    expect(await pings(mesh, box(1), address)).toBe(false)
    await expectNothingLeft(box(5))
    const said = await mesh.agent(box(5), 'status')
    expect(said.exitCode).toBe(10)
    expect(said.stderr).toContain('refuses the key of this node (unauthorized)')
    expect((await mesh.agent(box(5), 'up')).exitCode).toBe(4)
  }, 120_000)

  test('enrol again with a join token after the server has refused a key', async () => {
    await succeeded(mesh.up(box(5), '--hosts'))
    await vi.waitFor(async () => expect(await pings(mesh, box(1), 'web-5.mesh')).toBe(true), SOON)
  }, 120_000)

  test('leave nothing behind after down, whether the agent runs, was killed, or was stopped before', async () => {
    await succeeded(mesh.agent(box(1), 'down'))
    await expectNothingLeft(box(1))
    process.kill(mesh.agentPid(box(2)), 'SIGKILL')
    await succeeded(mesh.agent(box(2), 'down'))
    await expectNothingLeft(box(2))
    const again = await succeeded(mesh.agent(box(2), 'down'))
    expect(again.stderr).toContain('No agent ran')
    await succeeded(mesh.agent(box(1), 'up'))
    await vi.waitFor(async () => expect(await pings(mesh, box(1), await addressOf(box(4)))).toBe(true), SOON)
  }, 180_000)

  /** No interface, process, socket, table, route or line in the hosts file. */
  async function expectNothingLeft(one: Box): Promise<void> {
    const output = async (...argv: readonly string[]) => (await mesh.lab.exec(one, argv)).stdout
    expect(await output('ip', '-o', 'link')).not.toContain('ctl0')
    expect(await output('ip', 'route')).not.toContain('ctl0')
    expect(await processesOf(one, 'wireguard-go')).toEqual([])
    expect(await output('nft', 'list', 'tables')).not.toContain('ctl')
    expect(await output('ls', '/run/wireguard')).toBe('')
    expect(await output('cat', '/etc/hosts')).not.toContain('mesh')
    expect(existsSync(join(mesh.stateDirectory(one), 'agent.sock'))).toBe(false)
    expect(existsSync(join(mesh.stateDirectory(one), 'agent.lock'))).toBe(false)
    expect(existsSync(join(mesh.stateDirectory(one), 'agent.json'))).toBe(true)
  }
})

function neverMade(): never {
  throw new Error('there is no such box')
}
