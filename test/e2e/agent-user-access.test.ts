import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pings, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { connectDevice } from '../support/mesh/wireguard-device.ts'
import { requirement } from '../support/run/requirements.mjs'

const SOON = { timeout: 30_000, interval: 250 }
const NAMES = ['edge', 'web'] as const

interface HostRow {
  readonly in_sync: boolean
  readonly error: string | null
}

describe.skipIf(requirement('mesh-lab') === undefined)('user access on a host with a real agent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-user-access-'))
  let mesh: AgentMesh
  let edge: Box
  let web: Box
  let phone: Box

  const ctl = (...args: readonly string[]) => mesh.operator(...args)
  const access = (...args: readonly string[]) => ctl('bridge', 'user-access', ...args)
  const enroll = (...args: readonly string[]) => access('enroll', 'staff', ...args)
  const meshAddress = async (box: Box): Promise<string> => {
    const { stdout } = await mesh.agent(box, 'status', '-o', 'json')
    return (JSON.parse(stdout) as { readonly mesh_address: string }).mesh_address
  }
  const hostRow = async (): Promise<HostRow> => {
    const { stdout } = await ctl('bridge', 'status', 'edge-1', '-o', 'json')
    const { hosts } = JSON.parse(stdout) as { readonly hosts: readonly HostRow[] }
    return hosts[0] ?? { in_sync: false, error: 'there is no host' }
  }
  const inSync = () => vi.waitFor(async () => expect(await hostRow()).toMatchObject({ in_sync: true }), SOON)
  const reaches = (from: Box, address: string, isReached: boolean) =>
    vi.waitFor(async () => expect(await pings(mesh, from, address)).toBe(isReached), SOON)
  /** The number of an interface, which one that is made again does not have. */
  const indexOf = async (name: string): Promise<number | undefined> => {
    const { stdout } = await succeeded(mesh.lab.exec(edge, ['ip', '-j', 'link', 'show', 'dev', name]))
    return (JSON.parse(stdout) as readonly { readonly ifindex?: number }[])[0]?.ifindex
  }
  const provide = (slug: string, ...args: readonly string[]) =>
    succeeded(access('create', slug, '--kind', 'wireguard', '--secret', 'staff-key', ...args))

  beforeAll(async () => {
    mesh = await startAgentMesh('ctluacc')
    const [one, other] = await Promise.all(NAMES.map((name) => mesh.lab.box(name)))
    if (one === undefined || other === undefined) throw new Error('the lab made no box')
    edge = one
    web = other
    phone = await mesh.lab.natBox('phone')
    for (const box of [edge, web]) await succeeded(mesh.up(box))
    const { stdout: key } = await succeeded(mesh.lab.exec(edge, ['wg', 'genkey']))
    writeFileSync(join(folder, 'staff.key'), key, { mode: 0o600 })
    await succeeded(ctl('secrets', 'put', 'staff-key', '--value-file', join(folder, 'staff.key')))
    const resource = ['resources', 'create', 'edge-1', '--kind', 'bridge', '--display-name', 'Edge']
    await succeeded(ctl(...resource, '--host-node', 'edge'))
    const places = ['--interface', 'wg-staff', '--port', '51830', '--max-peers', '2', '--peer-subnet', '10.77.0.0/24']
    await provide('staff', ...places)
    await inSync()
  }, 240_000)
  afterAll(async () => {
    await mesh?.close()
    rmSync(folder, { recursive: true, force: true })
  }, 180_000)

  test('lets a phone in with the configuration that enroll prints', async () => {
    const { stdout: config } = await succeeded(enroll('--name', 'ann-phone'))
    expect(config).toContain('Address = 10.77.0.2/32\n')
    expect(config).toContain(`Endpoint = ${edge.address}:51830\n`)
    await connectDevice(mesh.lab, phone, config)
    await reaches(phone, await meshAddress(edge), true)
    await reaches(phone, '10.77.0.1', true)
  }, 180_000)

  // Members learn the way back to the subnet, and the host forwards, with the other parts of bridges.
  test('lets the phone reach a member of the mesh, and the member does not begin connections to it', async () => {
    await reaches(phone, await meshAddress(web), true)
    expect(await pings(mesh, web, '10.77.0.2')).toBe(false)
  }, 180_000)

  test('writes a configuration into a file that only its owner can read, once', async () => {
    const file = join(folder, 'bob.conf')
    const written = await succeeded(enroll('--name', 'bob-laptop', '--out', file))
    expect(written.stdout).toBe('')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain('Address = 10.77.0.3/32\n')
    expect((await enroll('--name', 'cyd', '--out', file)).exitCode).toBe(6)
  }, 180_000)

  test('admits no more peers than max_peers, and leaves no file behind', async () => {
    const file = join(folder, 'cyd.conf')
    const refused = await enroll('--name', 'cyd', '--out', file)
    expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('max_peers_reached') as string })
    expect(existsSync(file)).toBe(false)
  }, 180_000)

  test('refuses an interface that somebody else owns, and goes on with the others', async () => {
    await succeeded(mesh.lab.exec(edge, ['ip', 'link', 'add', 'wg-other', 'type', 'veth', 'peer', 'name', 'other']))
    await provide('other', '--interface', 'wg-other', '--port', '51831', '--max-peers', '2')
    await vi.waitFor(
      async () => expect((await hostRow()).error).toContain('wg-other that does not belong to this agent'),
      SOON,
    )
    await reaches(phone, await meshAddress(edge), true)
    await succeeded(access('delete', 'other', '--yes'))
    await inSync()
    await succeeded(mesh.lab.exec(edge, ['ip', 'link', 'show', 'wg-other']))
  }, 120_000)

  test('goes on while the agent is killed, and is taken over by its successor', async () => {
    const address = await meshAddress(edge)
    const before = await indexOf('wg-staff')
    process.kill(mesh.agentPid(edge), 'SIGKILL')
    expect(await pings(mesh, phone, address)).toBe(true)
    await succeeded(mesh.agent(edge, 'up'))
    await inSync()
    await reaches(phone, address, true)
    expect(await indexOf('wg-staff')).toBe(before)
  }, 120_000)

  test('cuts a phone off that is removed', async () => {
    await succeeded(access('peers', 'remove', 'staff', 'ann-phone', '--yes'))
    await vi.waitFor(
      async () => {
        const sent = await mesh.lab.exec(phone, ['ping', '-c', '1', '-W', '0.3', '10.77.0.1'])
        expect(sent.exitCode).not.toBe(0)
      },
      { timeout: 10_000, interval: 50 },
    )
    await inSync()
  }, 180_000)

  test('leaves nothing behind when its agent is taken down', async () => {
    await succeeded(mesh.agent(edge, 'down'))
    const { stdout } = await succeeded(mesh.lab.exec(edge, ['ip', '-o', 'link', 'show']))
    expect(stdout).not.toContain('wg-staff')
    expect(stdout).toContain('wg-other')
  }, 180_000)
})
