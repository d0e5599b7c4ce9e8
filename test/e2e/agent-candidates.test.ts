import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AgentStatus, PeerRow } from '../../src/cli/agent/control/agent-status.ts'
import { pings, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { requirement } from '../support/run/requirements.mjs'

const LOOK = { interval: 250 }
/** Three seconds at the endpoint, two at the candidate, and at most one pause between two searches, on a slow machine. */
const FOUND_MS = 150_000

/** Keeps the machines of a site apart, as long as the table is there. */
const APART = `
table inet apart {
  chain forward {
    type filter hook forward priority filter
    iifname "lan0" oifname "lan1" drop
    iifname "lan1" oifname "lan0" drop
  }
}
`

describe.skipIf(requirement('mesh-lab') === undefined)('machines behind one NAT', () => {
  let mesh: AgentMesh
  let outside: Box
  let one: Box
  let other: Box
  const addresses = new Map<Box, string>()
  const addressOf = (box: Box): string => addresses.get(box) ?? ''
  const peerOf = async (box: Box, name: string): Promise<PeerRow | undefined> => {
    const { stdout } = await succeeded(mesh.agent(box, 'peers', '-o', 'json'))
    return (JSON.parse(stdout) as readonly PeerRow[]).find((row) => row.name === name)
  }
  const endpointOf = async (name: string): Promise<unknown> => {
    const { stdout } = await succeeded(mesh.operator('nodes', 'show', name, '-o', 'json'))
    return (JSON.parse(stdout) as Readonly<Record<string, unknown>>)['endpoint']
  }

  async function join(box: Box): Promise<void> {
    await succeeded(mesh.up(box, '--hosts'))
    const { stdout } = await succeeded(mesh.agent(box, 'status', '-o', 'json'))
    addresses.set(box, (JSON.parse(stdout) as AgentStatus).mesh_address)
  }

  beforeAll(async () => {
    // A network for benchmarks (RFC 2544): its addresses are not private, as those of the site are.
    mesh = await startAgentMesh('ctlcand', { network: '198.18' })
    outside = await mesh.lab.box('outside')
    ;[one, other] = (await mesh.lab.natSite('site', ['in-1', 'in-2'])) as [Box, Box]
    await one.router?.nft(APART)
    for (const box of [outside, one, other]) await join(box)
  }, 240_000)
  afterAll(() => mesh?.close(), 60_000)

  test(
    'find each other by their local addresses, where the NAT returns nothing to its own address',
    async () => {
      // Others reach both through the NAT: that is the endpoint that each gets of the other.
      for (const box of [one, other])
        await vi.waitFor(async () => expect(await endpointOf(box.name)).toMatch(`${box.publicAddress}:`), {
          ...LOOK,
          timeout: 60_000,
        })
      expect(await pings(mesh, one, addressOf(other))).toBe(false)
      await one.router?.nft('delete table inet apart')
      await vi.waitFor(async () => expect(await pings(mesh, one, addressOf(other))).toBe(true), {
        ...LOOK,
        timeout: FOUND_MS,
      })
      const local = (box: Box) => ({ path: 'direct', endpoint: `${box.address}:51820` })
      expect(await peerOf(one, other.name)).toMatchObject(local(other))
      expect(await peerOf(other, one.name)).toMatchObject(local(one))
      // A search that a slow machine began may be at a candidate for two seconds.
      for (const box of [one, other])
        await vi.waitFor(
          async () =>
            expect(await peerOf(outside, box.name)).toMatchObject({
              path: 'direct',
              endpoint: expect.stringMatching(`^${box.publicAddress}:`),
            }),
          { ...LOOK, timeout: 60_000 },
        )
    },
    FOUND_MS + 120_000,
  )

  test('route the subnets of a tunnel to the node that hosts it, until the tunnel is gone', async () => {
    const place = ['--project', 'default', '--domain', 'default']
    await succeeded(
      mesh.operator(
        'resources',
        'create',
        'edge',
        '--kind',
        'bridge',
        '--display-name',
        'Edge',
        '--host-node',
        'outside',
        ...place,
      ),
    )
    const tunnel = ['--kind', 'wireguard', '--remote', '203.0.113.9:51820', '--secret', 'hq-key']
    await succeeded(
      mesh.operator('bridge', 'site-to-site', 'create', 'hq', ...tunnel, '--subnets', '10.77.0.0/16', ...place),
    )
    const routes = async (box: Box) => (await mesh.lab.exec(box, ['ip', 'route', 'show', 'dev', 'ctl0'])).stdout
    for (const box of [one, other])
      await vi.waitFor(async () => expect(await routes(box)).toContain('10.77.0.0/16'), { ...LOOK, timeout: 60_000 })
    expect(await routes(outside)).not.toContain('10.77.0.0/16')
    await succeeded(mesh.operator('bridge', 'site-to-site', 'delete', 'hq', '--yes', ...place))
    for (const box of [one, other])
      await vi.waitFor(async () => expect(await routes(box)).not.toContain('10.77.0.0/16'), {
        ...LOOK,
        timeout: 60_000,
      })
  }, 240_000)
})
