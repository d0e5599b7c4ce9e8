import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { NetworkCheck } from '../../src/cli/agent/netcheck/check-network.ts'
import type { Finding } from '../../src/cli/commands/doctor/finding.ts'
import { startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { requirement } from '../support/run/requirements.mjs'

const SOON = { timeout: 30_000, interval: 300 }

describe.skipIf(requirement('mesh-lab') === undefined)('two machines of a mesh', () => {
  let mesh: AgentMesh
  let one: Box
  let other: Box

  const doctor = async (box: Box) => {
    const { stdout, exitCode } = await mesh.agent(box, 'doctor', '-o', 'json')
    const findings = JSON.parse(stdout) as readonly Finding[]
    return { exitCode, problems: findings.filter(({ status }) => status === 'problem'), findings }
  }
  const netcheck = async (box: Box): Promise<NetworkCheck> =>
    JSON.parse((await succeeded(mesh.agent(box, 'netcheck', '-o', 'json'))).stdout) as NetworkCheck

  beforeAll(async () => {
    mesh = await startAgentMesh('ctldoc')
    one = await mesh.lab.box('web-1')
    other = await mesh.lab.box('web-2')
    for (const box of [one, other]) await succeeded(mesh.up(box))
  }, 180_000)
  afterAll(() => mesh?.close(), 60_000)

  test('reach each other through the tunnel, as "netcheck" shows', async () => {
    const check = await vi.waitFor(async () => {
      const found = await netcheck(one)
      expect(found.peers[0]?.rtt_ms).toEqual(expect.any(Number))
      return found
    }, SOON)
    expect(check).toMatchObject({
      name: 'web-1',
      server: { url: mesh.url, reachable: true, local_address: one.address },
      is_port_bound: true,
      own_endpoint: `${one.address}:51820`,
      peers: [{ name: 'web-2', path: 'direct', endpoint: `${other.address}:51820` }],
    })
  }, 180_000)

  test('have no problem while everything works', async () => {
    await vi.waitFor(async () => expect((await doctor(one)).problems).toEqual([]), SOON)
    const { exitCode, findings } = await doctor(one)
    expect(exitCode).toBe(0)
    const ok = findings.filter(({ status }) => status === 'ok').map(({ check }) => check)
    for (const check of ['server', 'key', 'clock', 'agent', 'events', 'keys', 'peers', 'routes', 'resolver'])
      expect(ok).toContain(check)
  }, 180_000)

  test('have a problem when doctor is asked in another network namespace than that of the agent', async () => {
    // The state folder has the name of the box.
    const { findings } = await doctor({ ...other, name: one.name })
    expect(findings.filter(({ check }) => check === 'interface')).toMatchObject([
      { status: 'problem', detail: 'the agent runs in another network namespace' },
    ])
  }, 180_000)

  test('have a problem when a route of a peer is gone, and when the agent is', async () => {
    const [peer] = (await netcheck(one)).peers
    // The agent sets routes again with each change of the mesh.
    await vi.waitFor(
      async () => {
        await mesh.lab.exec(one, ['ip', 'route', 'del', `${peer?.mesh_address}/32`, 'dev', 'ctl0'])
        expect((await doctor(one)).problems).toMatchObject([
          { check: 'routes', detail: `1 of 1 peers do not lead through ctl0, such as ${peer?.mesh_address}` },
        ])
      },
      { timeout: 40_000 },
    )
    await succeeded(mesh.agent(one, 'down'))
    expect(await doctor(one)).toMatchObject({ exitCode: 10, problems: [{ check: 'agent', detail: 'it does not run' }] })
    expect(await mesh.agent(one, 'netcheck')).toMatchObject({ exitCode: 8 })
  }, 180_000)

  test('have a problem when the server refuses the key', async () => {
    await succeeded(mesh.operator('nodes', 'deregister', 'web-1', '--yes'))
    expect((await doctor(one)).problems).toMatchObject([
      { check: 'key', detail: expect.stringContaining('the server refuses the key of this node') },
      { check: 'agent' },
    ])
  }, 180_000)
})
