import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AgentStatus, PeerRow } from '../../src/cli/agent/control/agent-status.ts'
import { pings, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { openTcpStream } from '../support/mesh/tcp-stream.ts'
import { requirement } from '../support/run/requirements.mjs'

const NAMES = ['public-1', 'public-2', 'nat-1', 'nat-2', 'random'] as const
type Name = (typeof NAMES)[number]

/** Behind a NAT that keeps ports, and behind one that picks a port for each destination: they need a relay. */
const WITHOUT_PATH: readonly (readonly [Name, Name])[] = [
  ['nat-1', 'random'],
  ['nat-2', 'random'],
]

const LOOK = { interval: 200 }

/**
 * The goal is one second, which most streams keep. Where both ends change their key within a second, TCP may meet a gap with its
 * pauses, which double from 0.2 s: a gap of 1.5 s, measured on two slow cores, is over for TCP after 3.1 s. Where no agent
 * repeated the handshake it would take WireGuard five seconds, and TCP six.
 */
const STALL_MS_MAX = 4_000

describe.skipIf(requirement('mesh-lab') === undefined)('machines behind NATs', () => {
  let mesh: AgentMesh
  const boxes = new Map<string, Box>()
  const addresses = new Map<string, string>()
  const box = (name: string): Box => boxes.get(name) ?? neverMade(name)
  const address = (name: string): string => addresses.get(name) ?? neverMade(name)
  const status = async (name: string): Promise<AgentStatus> =>
    JSON.parse((await succeeded(mesh.agent(box(name), 'status', '-o', 'json'))).stdout) as AgentStatus
  const peersOf = async (name: string): Promise<readonly PeerRow[]> =>
    JSON.parse((await succeeded(mesh.agent(box(name), 'peers', '-o', 'json'))).stdout) as readonly PeerRow[]
  const peerOf = async (name: string, peer: string): Promise<PeerRow | undefined> =>
    (await peersOf(name)).find((row) => row.name === peer)
  const reaches = (from: string, to: string) => pings(mesh, box(from), address(to))

  async function join(name: string, made: Box, ...args: readonly string[]): Promise<void> {
    boxes.set(name, made)
    await succeeded(mesh.up(made, '--hosts', ...args))
    addresses.set(name, (await status(name)).mesh_address)
  }

  beforeAll(async () => {
    mesh = await startAgentMesh('ctlnat', { hasIpv6: true })
    await join('public-1', await mesh.lab.box('public-1'))
    await join('public-2', await mesh.lab.box('public-2'))
    await join('nat-1', await mesh.lab.natBox('nat-1'))
    await join('nat-2', await mesh.lab.natBox('nat-2'))
    await join('random', await mesh.lab.natBox('random', { isFullyRandom: true }))
  }, 240_000)
  afterAll(() => mesh.close(), 60_000)

  test('reach each other within 15 s of the last arrival, save where only a relay helps', async () => {
    const pairs = NAMES.flatMap((from) => NAMES.filter((to) => to !== from).map((to) => [from, to] as const))
    const direct = pairs.filter(([from, to]) => !needsRelay(from, to))
    await Promise.all(
      direct.map(([from, to]) =>
        vi.waitFor(async () => expect([from, to, await reaches(from, to)]).toEqual([from, to, true]), {
          ...LOOK,
          timeout: 15_000,
        }),
      ),
    )
    for (const [from, to] of WITHOUT_PATH) {
      expect(await reaches(from, to)).toBe(false)
      expect(await reaches(to, from)).toBe(false)
    }
    for (const from of NAMES) {
      const others = NAMES.filter((to) => to !== from)
      const paths = Object.fromEntries((await peersOf(from)).map(({ name, path }) => [name, path]))
      expect(paths).toEqual(Object.fromEntries(others.map((to) => [to, needsRelay(from, to) ? 'none' : 'direct'])))
    }
  }, 180_000)

  test('are known to others by the address and the port of their NAT', async () => {
    const seen = `${box('nat-1').publicAddress}:51820`
    await vi.waitFor(async () => expect(await peerOf('nat-2', 'nat-1')).toMatchObject({ endpoint: seen }), {
      ...LOOK,
      timeout: 60_000,
    })
  }, 180_000)

  test(
    'change every key while connections are open, which lose no byte and stall for a moment at most',
    { timeout: 240_000 },
    async () => {
      const before = await keysOf(NAMES)
      const streams = await Promise.all(
        (
          [
            ['public-1', 'public-2'],
            ['nat-1', 'nat-2'],
            ['random', 'public-1'],
          ] as const
        ).map(([from, to], index) =>
          openTcpStream(mesh.lab, box(from), { box: box(to), address: address(to), port: 9_000 + index }),
        ),
      )
      // It ends well only where every node has rotated and reports the epochs of the server's keys.
      const rotated = await succeeded(mesh.operator('nodes', 'rotate', '--all', '--yes'))
      expect(rotated.stderr).not.toContain('disagree')
      const after = await keysOf(NAMES)
      for (const count of await Promise.all(streams.map((stream) => stream.end()))) {
        expect(count).toMatchObject({ isInOrder: true, receivedBytes: count.sentBytes })
        expect(count.longestStallMs).toBeLessThan(STALL_MS_MAX)
      }
      expect(after.size).toBe(before.size)
      expect([...after].filter((key) => before.has(key))).toEqual([])
    },
  )

  test('are reached again within 10 s after they have moved to another address', async () => {
    const moved = box('public-2')
    const to = moved.address.replace(/\.2$/, '.77')
    const gateway = moved.address.replace(/\.2$/, '.1')
    await moved.namespace.ip([
      `address del ${moved.address}/24 dev eth0`,
      `address add ${to}/24 dev eth0`,
      `route replace default via ${gateway}`,
    ])
    const startedMs = performance.now()
    for (const from of ['public-1', 'nat-1'] as const)
      await vi.waitFor(async () => expect(await reaches(from, 'public-2')).toBe(true), { ...LOOK, timeout: 60_000 })
    expect(performance.now() - startedMs).toBeLessThan(10_000)
    await vi.waitFor(
      async () => expect(await peerOf('public-1', 'public-2')).toMatchObject({ endpoint: `${to}:51820` }),
      { ...LOOK, timeout: 60_000 },
    )
    expect((await status('public-2')).server.reachable).toBe(true)
  }, 180_000)

  test('carry the mesh over IPv6 with a machine that has nothing else', async () => {
    const made = await mesh.lab.box('six')
    await made.namespace.ip([`address del ${made.address}/24 dev eth0`])
    await join('six', made, '--server', mesh.url6)
    await vi.waitFor(async () => expect(await reaches('public-1', 'six')).toBe(true), { ...LOOK, timeout: 60_000 })
    expect(await peerOf('public-1', 'six')).toMatchObject({
      path: 'direct',
      endpoint: expect.stringMatching(/^\[fd99:.+\]:51820$/) as string,
    })
  }, 180_000)

  /** The public key of each box and the preshared keys of its peers. */
  async function keysOf(names: readonly string[]): Promise<ReadonlySet<string>> {
    const dumps = await Promise.all(names.map((name) => mesh.lab.exec(box(name), ['wg', 'show', 'ctl0', 'dump'])))
    const rows = dumps.map(({ stdout }) =>
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('\t')),
    )
    const own = rows.map(([first]) => first?.[1] ?? '')
    const shared = rows.flatMap(([, ...peers]) => peers.map(([, presharedKey = '']) => presharedKey))
    return new Set([...own, ...shared])
  }
})

function needsRelay(one: Name, other: Name): boolean {
  return WITHOUT_PATH.some((pair) => pair.includes(one) && pair.includes(other))
}

function neverMade(name: string): never {
  throw new Error(`there is no ${name}`)
}
