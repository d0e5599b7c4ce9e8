import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { PeerRow } from '../../src/cli/agent/control/agent-status.ts'
import { pings, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { openTcpStream } from '../support/mesh/tcp-stream.ts'
import { requirement } from '../support/run/requirements.mjs'

const RELAY_PORT = 51_821
const LOOK = { interval: 250 }

describe.skipIf(requirement('mesh-lab') === undefined)('machines without a direct path', () => {
  let mesh: AgentMesh
  const boxes = new Map<string, Box>()
  const addresses = new Map<string, string>()
  const box = (name: string): Box => boxes.get(name) ?? neverMade(name)
  const address = (name: string): string => addresses.get(name) ?? neverMade(name)
  const reaches = (from: string, to: string) => pings(mesh, box(from), address(to))
  const peerOf = async (name: string, peer: string): Promise<PeerRow | undefined> => {
    const { stdout } = await succeeded(mesh.agent(box(name), 'peers', '-o', 'json'))
    return (JSON.parse(stdout) as readonly PeerRow[]).find((row) => row.name === peer)
  }
  const relayAddress = (): string => `${box('relay-1').publicAddress}:${RELAY_PORT}`

  async function join(name: string, made: Box): Promise<void> {
    boxes.set(name, made)
    await succeeded(mesh.up(made, '--hosts'))
    const { stdout } = await succeeded(mesh.agent(made, 'status', '-o', 'json'))
    addresses.set(name, (JSON.parse(stdout) as { readonly mesh_address: string }).mesh_address)
  }

  beforeAll(async () => {
    mesh = await startAgentMesh('ctlrelay')
    await join('relay-1', await mesh.lab.box('relay-1'))
    const hosted = ['--kind', 'bridge', '--display-name', 'Edge', '--host-node', 'relay-1']
    await succeeded(mesh.operator('resources', 'create', 'edge-1', ...hosted))
    await succeeded(mesh.operator('bridge', 'relay', 'set', 'edge-1', '--port', String(RELAY_PORT)))
  }, 120_000)
  afterAll(() => mesh.close(), 60_000)

  test(
    'behind NATs that choose a port for each destination reach each other through the relay',
    { timeout: 240_000 },
    async () => {
      await join('random-1', await mesh.lab.natBox('random-1', { isFullyRandom: true }))
      await join('random-2', await mesh.lab.natBox('random-2', { isFullyRandom: true }))
      for (const [from, to] of [
        ['random-1', 'random-2'],
        ['random-2', 'random-1'],
      ] as const)
        await vi.waitFor(async () => expect(await reaches(from, to)).toBe(true), { ...LOOK, timeout: 30_000 })
      expect(await peerOf('random-1', 'random-2')).toMatchObject({ path: 'relayed', relay: relayAddress() })

      const stream = await openTcpStream(mesh.lab, box('random-1'), {
        box: box('random-2'),
        address: address('random-2'),
        port: 9_000,
      })
      // The direct way is tried every 15 s, and holds the stream for a moment.
      await pause(20_000)
      expect(await packetsOfRelay()).toBeGreaterThan(200)
      const count = await stream.end()
      expect(count).toMatchObject({ isInOrder: true, receivedBytes: count.sentBytes })
    },
  )

  test(
    'with a path that is cut go on through the relay, and go back to the direct one',
    { timeout: 180_000 },
    async () => {
      await join('public-1', await mesh.lab.box('public-1'))
      await join('public-2', await mesh.lab.box('public-2'))
      const both = async () => [await reaches('public-1', 'public-2'), await reaches('public-2', 'public-1')]
      const pathIs = async (path: string) => {
        expect(await both()).toEqual([true, true])
        expect(await peerOf('public-1', 'public-2')).toMatchObject({ path })
        expect(await peerOf('public-2', 'public-1')).toMatchObject({ path })
      }
      await vi.waitFor(() => pathIs('direct'), { ...LOOK, timeout: 30_000 })
      await mesh.lab.cut(box('public-1'), box('public-2'))
      await vi.waitFor(() => pathIs('relayed'), { ...LOOK, timeout: 30_000 })
      await vi.waitFor(
        async () => expect(await shownPath('public-1', 'public-2')).toMatchObject({ mode: 'direct', path: 'relayed' }),
        { ...LOOK, timeout: 60_000 },
      )
      await mesh.lab.restore(box('public-1'), box('public-2'))
      await vi.waitFor(() => pathIs('direct'), { ...LOOK, timeout: 60_000 })
    },
  )

  /** How the server shows an edge. */
  async function shownPath(from: string, to: string): Promise<unknown> {
    const { stdout } = await succeeded(mesh.operator('nodes', 'topology', '--node', from, '-o', 'json'))
    const { nodes, edges } = JSON.parse(stdout) as {
      readonly nodes: readonly { readonly node_id: string; readonly display_name: string }[]
      readonly edges: readonly { readonly to: string }[]
    }
    const id = nodes.find((node) => node.display_name === to)?.node_id
    return edges.find((edge) => edge.to === id)
  }

  async function packetsOfRelay(): Promise<number> {
    const { stdout } = await mesh.lab.exec(box('relay-1'), ['cat', '/proc/net/snmp'])
    const [, counters = ''] = stdout.split('\n').filter((line) => line.startsWith('Udp:'))
    return Number(counters.split(' ')[1])
  }
})

function neverMade(name: string): never {
  throw new Error(`there is no ${name}`)
}
