import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AgentStatus } from '../../src/cli/agent/control/agent-status.ts'
import { pings, processesOf, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { makeSite, type Site } from '../support/mesh/site.ts'
import { requirement } from '../support/run/requirements.mjs'

const MESH = '100.64.0.0/10'
const SOON = { timeout: 60_000, interval: 200 }

describe.skipIf(requirement('mesh-lab') === undefined)('a tunnel to another site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-site-'))
  let mesh: AgentMesh
  let site: Site
  let host: Box
  let member: Box
  const operator = (...args: readonly string[]) => succeeded(mesh.operator(...args))
  const meshAddressOf = async (box: Box): Promise<string> =>
    (JSON.parse((await succeeded(mesh.agent(box, 'status', '-o', 'json'))).stdout) as AgentStatus).mesh_address
  const run = async (box: Box, ...argv: readonly string[]) => mesh.lab.exec(box, argv)
  const interfaces = async (): Promise<readonly string[]> =>
    [...(await run(host, 'ip', '-o', 'link', 'show')).stdout.matchAll(/^\d+: (s2s[^:@]+)/gm)].map(
      ([, name]) => name ?? '',
    )
  const forwarding = async (name: string): Promise<string> =>
    (await run(host, 'cat', `/proc/sys/net/ipv4/conf/${name}/forwarding`)).stdout.trim()
  const isBlocked = async (from: Box, to: string): Promise<boolean> =>
    (await run(from, 'ping', '-c', '1', '-W', '0.3', to)).exitCode !== 0
  const reaches = (from: Box, to: string): Promise<void> =>
    vi.waitFor(async () => expect(await pings(mesh, from, to)).toBe(true), SOON)
  const blocked = (from: Box, to: string): Promise<void> =>
    vi.waitFor(async () => expect(await isBlocked(from, to)).toBe(true), SOON)
  const inSync = () =>
    vi.waitFor(async () => expect(await mesh.operator('bridge', 'status', 'edge')).toMatchObject({ exitCode: 0 }), SOON)
  const tunnel = (...args: readonly string[]) => operator('bridge', 'site-to-site', 'update', 'hq', ...args)

  function secretFile(content: unknown): string {
    const path = join(folder, 'secret')
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
    return path
  }

  beforeAll(async () => {
    mesh = await startAgentMesh('ctls2s')
    host = await mesh.lab.box('host')
    member = await mesh.lab.box('member')
    for (const box of [host, member]) await succeeded(mesh.up(box, '--hosts'))
    site = await makeSite(mesh.lab, folder, MESH)
    await operator('secrets', 'put', 'hq-key', '--value-file', secretFile(site.secret))
    await operator('resources', 'create', 'edge', '--kind', 'bridge', '--display-name', 'Edge', '--host-node', 'host')
    const facts = ['--kind', 'wireguard', '--remote', site.endpoint, '--subnets', site.subnet, '--secret', 'hq-key']
    await operator('bridge', 'site-to-site', 'create', 'hq', ...facts)
  }, 240_000)
  afterAll(async () => {
    await mesh.close()
    rmSync(folder, { recursive: true, force: true })
  }, 180_000)

  test('carries packets both ways, and the host reports it in sync', async () => {
    await reaches(host, site.deskAddress)
    await reaches(site.desk, await meshAddressOf(host))
    await inSync()
  }, 120_000)

  test('lets only the interfaces concerned forward', async () => {
    const [name = ''] = await interfaces()
    expect([await forwarding('ctl0'), await forwarding(name)]).toEqual(['1', '1'])
    expect([await forwarding('eth0'), await forwarding('all')]).toEqual(['0', '0'])
  }, 180_000)

  test('is used by members, under the policies of the host', async () => {
    await reaches(member, site.deskAddress)
    await reaches(site.desk, await meshAddressOf(member))
    const policy = (name: string, rule: string) =>
      operator('policies', 'create', name, '--selector', '*', '--isolates', 'ingress', '--rule', rule)
    await policy('only-ssh', 'ingress tcp:22 from *')
    await vi.waitFor(async () => expect(await isBlocked(member, site.deskAddress)).toBe(true), {
      timeout: 10_000,
      interval: 50,
    })
    // What is behind the host counts as the host.
    await blocked(site.desk, await meshAddressOf(member))
    await policy('ping-too', 'ingress icmp from *')
    await reaches(member, site.deskAddress)
    await reaches(site.desk, await meshAddressOf(member))
    for (const name of ['only-ssh', 'ping-too']) await operator('policies', 'delete', name, '--yes')
  }, 180_000)

  test('takes no packet that the host would have to send elsewhere', async () => {
    const route = ['ip', 'route', 'replace', `${member.address}/32`]
    expect(await run(site.desk, ...route, 'via', '10.20.0.1')).toMatchObject({ exitCode: 0 })
    expect(await run(site.gateway, ...route, 'dev', 'wg0')).toMatchObject({ exitCode: 0 })
    const peer = (await run(site.gateway, 'wg', 'show', 'wg0', 'peers')).stdout.trim()
    const allowed = ['allowed-ips', `${MESH},${member.address}/32`]
    expect(await run(site.gateway, 'wg', 'set', 'wg0', 'peer', peer, ...allowed)).toMatchObject({ exitCode: 0 })
    await reaches(site.desk, await meshAddressOf(host))
    expect(await isBlocked(site.desk, member.address)).toBe(true)
    const counters = (await run(host, 'nft', 'list', 'table', 'inet', 'ctl_ctl0')).stdout
    expect(counters).toContain('bridges lead to the mesh alone')
  }, 180_000)

  test('lets only the side begin that the routing policy names', async () => {
    const address = await meshAddressOf(host)
    await tunnel('--routing-policy', 'egress_only')
    await blocked(site.desk, address)
    expect(await pings(mesh, host, site.deskAddress)).toBe(true)
    await tunnel('--routing-policy', 'ingress_only')
    await blocked(host, site.deskAddress)
    expect(await pings(mesh, site.desk, address)).toBe(true)
    await tunnel('--routing-policy', 'bidirectional')
    await reaches(host, site.deskAddress)
  }, 120_000)

  test('goes on as it was where the new configuration is refused, and no secret is reported', async () => {
    const secret = { ...site.secret, listen_port: 'x\nPostUp = reboot' }
    await operator('secrets', 'put', 'hq-key', '--value-file', secretFile(secret))
    await vi.waitFor(async () => {
      const { exitCode, stdout } = await mesh.operator('bridge', 'status', 'edge', '-o', 'json')
      expect(exitCode).toBe(10)
      expect(stdout).toContain('listen_port of the secret is not a port')
      expect(stdout).not.toContain(site.secret['private_key'])
    }, SOON)
    expect(await pings(mesh, host, site.deskAddress)).toBe(true)
    await operator('secrets', 'put', 'hq-key', '--value-file', secretFile(site.secret))
    await inSync()
    await tunnel('--subnets', '10.20.0.0/16,10.99.0.0/16')
    await vi.waitFor(async () => {
      const { stdout } = await mesh.operator('bridge', 'status', 'edge', '-o', 'json')
      expect(stdout).toContain('the subnet 10.99.0.0/16 has the gateway of a default route in it')
    }, SOON)
    expect(await pings(mesh, host, site.deskAddress)).toBe(true)
    await tunnel('--subnets', site.subnet)
    await inSync()
  }, 240_000)

  test('loses no packet when the agent is killed and started again', async () => {
    const ping = ['ping', '-i', '0.2', '-c', '40', await meshAddressOf(host)]
    const stream = mesh.lab.exec(site.desk, ping, { timeoutMs: 60_000 })
    const before = await processesOf(host, 'wireguard-go')
    process.kill(mesh.agentPid(host), 'SIGKILL')
    await succeeded(mesh.agent(host, 'up'))
    await inSync()
    expect((await stream).stdout).toContain(' 0% packet loss')
    expect(await processesOf(host, 'wireguard-go')).toEqual(before)
  }, 120_000)

  test('comes back when its wireguard-go dies', async () => {
    const [name = ''] = await interfaces()
    const { stdout } = await run(host, 'pgrep', '-f', `^wireguard-go ${name}$`)
    process.kill(Number(stdout), 'SIGKILL')
    await reaches(host, site.deskAddress)
    await vi.waitFor(async () => expect(await forwarding(name)).toBe('1'), SOON)
  }, 120_000)

  test('is removed with nothing left, also where the agent was away', async () => {
    process.kill(mesh.agentPid(host), 'SIGKILL')
    await operator('bridge', 'site-to-site', 'delete', 'hq', '--yes')
    expect(await interfaces()).toHaveLength(1)
    await succeeded(mesh.agent(host, 'up'))
    await vi.waitFor(async () => expect(await interfaces()).toEqual([]), SOON)
    await vi.waitFor(async () => expect(await forwarding('ctl0')).toBe('0'), SOON)
    expect(await processesOf(host, 'wireguard-go')).toHaveLength(1)
    expect((await run(host, 'nft', 'list', 'tables')).stdout).toBe('')
  }, 120_000)

  test('is removed by "down", also after the agent was killed', async () => {
    const facts = ['--kind', 'wireguard', '--remote', site.endpoint, '--subnets', site.subnet, '--secret', 'hq-key']
    await operator('bridge', 'site-to-site', 'create', 'hq', ...facts)
    await reaches(host, site.deskAddress)
    const goesDown = async (): Promise<void> => {
      await succeeded(mesh.agent(host, 'down'))
      expect(await interfaces()).toEqual([])
      expect(await processesOf(host, 'wireguard-go')).toEqual([])
      expect((await run(host, 'nft', 'list', 'tables')).stdout).toBe('')
    }
    await goesDown()
    await succeeded(mesh.agent(host, 'up'))
    await reaches(host, site.deskAddress)
    process.kill(mesh.agentPid(host), 'SIGKILL')
    await goesDown()
  }, 120_000)
})
