import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { PythonAgent } from '../support/fleet/python-agent.ts'
import { pings, processesOf, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { pythonStateOf, startPythonMember } from '../support/mesh/python-member.ts'
import { requirement } from '../support/run/requirements.mjs'

const PYTHON = requirement('python3-cryptography')
const LAB = requirement('mesh-lab')
const SOON = { timeout: 20_000, interval: 200 }

describe.skipIf(PYTHON === undefined || LAB === undefined)('agents in Python beside a real agent', () => {
  let mesh: AgentMesh
  let boxes: { readonly one: Box; readonly two: Box; readonly real: Box }
  let agents: { one: PythonAgent; two: PythonAgent }

  const start = (box: Box): PythonAgent => startPythonMember(mesh, box, PYTHON ?? '')
  const output = async (box: Box, ...argv: readonly string[]): Promise<string> =>
    (await mesh.lab.exec(box, argv)).stdout
  const kept = (box: Box): Record<string, string> => JSON.parse(readFileSync(pythonStateOf(mesh, box), 'utf8'))
  const ownKey = (box: Box) => output(box, 'wg', 'show', 'ctl0', 'public-key')
  const addressOf = async (box: Box): Promise<string> => {
    const shown = JSON.parse(await output(box, 'ip', '-j', '-4', 'address', 'show', 'dev', 'ctl0'))
    return shown[0].addr_info[0].local
  }
  const reaches = (from: Box, to: Box) =>
    vi.waitFor(async () => expect(await pings(mesh, from, await addressOf(to))).toBe(true), SOON)

  async function reachEachOther(): Promise<void> {
    const all = Object.values(boxes)
    for (const from of all) for (const to of all.filter((other) => other !== from)) await reaches(from, to)
  }

  beforeAll(async () => {
    mesh = await startAgentMesh('ctlpython')
    const { box, natBox } = mesh.lab
    const [one, two, real] = await Promise.all([box('py-1'), natBox('py-2'), box('web-1')])
    boxes = { one, two, real }
    agents = { one: start(one), two: start(two) }
    await succeeded(mesh.up(real, '--hosts'))
  }, 180_000)
  afterAll(() => mesh?.close(), 60_000)

  test('ping each other, each pair over the tunnel with the key of its edge', async () => {
    await reachEachOther()
    for (const box of [boxes.one, boxes.two]) {
      const peers = (await output(box, 'wg', 'show', 'ctl0', 'dump')).trim().split('\n').slice(1)
      expect(peers).toHaveLength(2)
      for (const [, presharedKey, , , handshake, , , keepalive] of peers.map((line) => line.split('\t'))) {
        expect(presharedKey).toMatch(/^.{43}=$/)
        expect(Number(handshake)).toBeGreaterThan(0)
        expect(keepalive).toBe('25')
      }
    }
  }, 180_000)

  test('find one behind a NAT at the port that the other one has seen', async () => {
    await vi.waitFor(() => expect(agents.one.said('observed')[0]).toMatchObject({ ignored: 0 }), SOON)
    const key = kept(boxes.two)['public_key'] ?? ''
    const endpoints = async (box: Box) => await output(box, 'wg', 'show', 'ctl0', 'endpoints')
    const seen = `${key}\t${boxes.two.publicAddress}:`
    await vi.waitFor(async () => expect(await endpoints(boxes.one)).toContain(seen), SOON)
    await vi.waitFor(
      () =>
        expect(agents.one.said('tunnel_peer').map(({ endpoint }) => endpoint)).toContainEqual(
          expect.stringContaining(`${boxes.two.publicAddress}:`),
        ),
      SOON,
    )
  }, 180_000)

  test('route each peer alone, never the whole mesh', async () => {
    const routes = JSON.parse(await output(boxes.one, 'ip', '-j', 'route', 'show', 'dev', 'ctl0'))
    const others = await Promise.all([boxes.two, boxes.real].map(addressOf))
    expect(routes.map(({ dst }: { readonly dst: string }) => dst).toSorted()).toEqual(others.toSorted())
  })

  test('keep their tunnels after the rotation of a key of either kind of agent', async () => {
    for (const box of [boxes.one, boxes.real]) {
      const before = await ownKey(box)
      await succeeded(mesh.operator('nodes', 'rotate', box.name, '--yes'))
      await vi.waitFor(async () => expect(await ownKey(box)).not.toBe(before), SOON)
      const after = await ownKey(box)
      await vi.waitFor(
        async () => expect(await output(boxes.two, 'wg', 'show', 'ctl0', 'peers')).toContain(after),
        SOON,
      )
      await reachEachOther()
    }
    expect(agents.one.said('tunnel_key')).toMatchObject([{ public_key: kept(boxes.one)['public_key'] }])
  }, 120_000)

  test('make the interface again when wireguard-go ends', async () => {
    const [before] = await processesOf(boxes.one, 'wireguard-go')
    if (before === undefined) throw new Error('there is no wireguard-go')
    process.kill(before, 'SIGKILL')
    await vi.waitFor(async () => expect(await processesOf(boxes.one, 'wireguard-go')).not.toContain(before), SOON)
    await vi.waitFor(() => expect(agents.one.said('tunnel')).toHaveLength(2), SOON)
    await reachEachOther()
  }, 180_000)

  test('leave the tunnel when the agent is killed, and its successor takes its place', async () => {
    await agents.two.kill()
    await reaches(boxes.one, boxes.two)
    agents.two = start(boxes.two)
    await vi.waitFor(() => expect(agents.two.said('tunnel_peer').length).toBeGreaterThanOrEqual(2), SOON)
    expect(await processesOf(boxes.two, 'wireguard-go')).toHaveLength(1)
    await reachEachOther()
  }, 180_000)

  test('leave nothing behind on Ctrl-C, and refuse an interface that is not theirs', async () => {
    expect(await agents.two.interrupt()).toMatchObject({ exitCode: 0 })
    expect(agents.two.said('tunnel').at(-1)).toMatchObject({ is_up: false, why: 'stopped' })
    await expectNothingLeft(boxes.two)
    await output(boxes.two, 'ip', 'tuntap', 'add', 'dev', 'ctl0', 'mode', 'tun')
    const refused = start(boxes.two)
    expect(await refused.ended()).toBe(1)
    expect(refused.said('failed').at(-1)?.['why']).toContain('ctl0 already, which is not of this agent')
    expect(await output(boxes.two, 'ip', '-o', 'link')).toContain('ctl0')
  }, 180_000)

  test('take everything down and report why when the server refuses the key of the node', async () => {
    await succeeded(mesh.operator('nodes', 'deregister', boxes.one.name, '--yes'))
    expect(await agents.one.ended()).toBe(3)
    expect(agents.one.said('tunnel').at(-1)).toMatchObject({
      is_up: false,
      why: 'the server refuses the key of this node (unauthorized)',
    })
    await expectNothingLeft(boxes.one)
  }, 180_000)

  test('print no key', () => {
    for (const [agent, box] of [
      [agents.one, boxes.one],
      [agents.two, boxes.two],
    ] as const) {
      const printed = JSON.stringify(agent.said())
      expect(printed).toContain('tunnel_peer')
      for (const secret of ['private_key', 'nsk']) expect(printed).not.toContain(kept(box)[secret])
    }
  })

  /** No interface, process, socket or route. */
  async function expectNothingLeft(box: Box): Promise<void> {
    expect(await output(box, 'ip', '-o', 'link')).not.toContain('ctl0')
    expect(await output(box, 'ip', 'route')).not.toContain('ctl0')
    expect(await output(box, 'ls', '/run/wireguard')).toBe('')
    expect(await processesOf(box, 'wireguard-go')).toEqual([])
  }
})
