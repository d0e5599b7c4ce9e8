import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AgentStatus } from '../../src/cli/agent/control/agent-status.ts'
import { pings, processesOf, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { openTcpStream } from '../support/mesh/tcp-stream.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'

const SOON = { timeout: 60_000, interval: 200 }
const PORT = 9_000
/** For so long the server is away, and bytes go on. */
const AWAY_MS = depth({ ci: 5_000, deep: 600_000 })
/** A tunnel that was built up again would stall for longer: a handshake that is not answered is repeated after 5 s. */
const STALL_MS_MAX = 4_500

describe.skipIf(requirement('mesh-lab') === undefined)('a stream of bytes between two real agents', () => {
  let mesh: AgentMesh
  let [one, two]: Box[] = []
  const both = (): readonly [Box, Box] => {
    if (one === undefined || two === undefined) throw new Error('there are no boxes')
    return [one, two]
  }
  const status = async (box: Box): Promise<AgentStatus> =>
    JSON.parse((await mesh.agent(box, 'status', '-o', 'json')).stdout) as AgentStatus
  const stream = async () => {
    const [from, to] = both()
    const { mesh_address: address } = await status(to)
    await vi.waitFor(async () => expect(await pings(mesh, from, address)).toBe(true), SOON)
    return openTcpStream(mesh.lab, from, { box: to, address, port: PORT })
  }

  beforeAll(async () => {
    mesh = await startAgentMesh('ctlaway')
    ;[one, two] = await Promise.all(['web-1', 'web-2'].map((name) => mesh.lab.box(name)))
    for (const box of both()) await succeeded(mesh.up(box))
  }, 180_000)
  afterAll(() => mesh?.close(), 60_000)

  test('goes on when both agents are killed, while none of them runs, and when they are started again', async () => {
    const open = await stream()
    const devices = await Promise.all(both().map((box) => processesOf(box, 'wireguard-go')))
    for (const box of both()) process.kill(mesh.agentPid(box), 'SIGKILL')
    for (const box of both()) expect((await mesh.agent(box, 'status')).exitCode).toBe(10)
    for (const box of both()) await succeeded(mesh.agent(box, 'up'))
    for (const box of both()) expect((await status(box)).state).toBe('running')
    expect(await Promise.all(both().map((box) => processesOf(box, 'wireguard-go')))).toEqual(devices)
    await expectWhole(await open.end())
  }, 180_000)

  test(
    `goes on while the server was killed and is away for ${AWAY_MS / 1000} s, also over a restart of an agent`,
    async () => {
      const open = await stream()
      const [from, to] = both()
      await mesh.killServer()
      const awayUntilMs = performance.now() + AWAY_MS
      for (const box of both())
        await vi.waitFor(async () => expect((await status(box)).server.reachable).toBe(false), SOON)
      process.kill(mesh.agentPid(to), 'SIGKILL')
      await succeeded(mesh.agent(to, 'up'))
      await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(awayUntilMs), {
        timeout: AWAY_MS + 1_000,
        interval: 500,
      })
      const { mesh_address: address } = await status(to)
      expect(await pings(mesh, from, address)).toBe(true)
      await mesh.startServer()
      for (const box of both())
        await vi.waitFor(async () => expect((await status(box)).server.reachable).toBe(true), {
          ...SOON,
          timeout: 120_000,
        })
      const counted = await open.end()
      await expectWhole(counted)
      // 256 bytes are sent every 5 ms; a machine under load sends them later.
      expect(counted.receivedBytes).toBeGreaterThan(AWAY_MS)
    },
    420_000 + AWAY_MS,
  )

  async function expectWhole(counted: Awaited<ReturnType<Awaited<ReturnType<typeof stream>>['end']>>): Promise<void> {
    process.stderr.write(`${JSON.stringify(counted)}\n`)
    expect(counted).toMatchObject({ isInOrder: true, receivedBytes: counted.sentBytes })
    expect(counted.longestStallMs, logs()).toBeLessThan(STALL_MS_MAX)
  }

  const logs = (): string =>
    both()
      .map((box) => readFileSync(join(mesh.stateDirectory(box), 'agent.log'), 'utf8'))
      .join('\n')
})
