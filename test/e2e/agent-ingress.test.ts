import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AgentStatus } from '../../src/cli/agent/control/agent-status.ts'
import { askPage, hasPrinted, openBrowser } from '../support/ingress/browser.ts'
import { ownCertificate } from '../support/ingress/own-certificate.ts'
import { processesOf, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box, Lab } from '../support/mesh/lab.ts'
import { startPebble, type Pebble } from '../support/network/pebble.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 })

const SITE = fileURLToPath(new URL('../support/ingress/site-child.mjs', import.meta.url))
const WITHIN = { timeout: 60_000, interval: 200 }
const pebbleProgram = requirement('pebble')
const isMissing =
  [requirement('mesh-lab'), requirement('haproxy'), requirement('caddy'), requirement('openssl')].includes(undefined) ||
  pebbleProgram === undefined

describe.skipIf(isMissing)('Public ingress of a bridge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-ingress-'))
  let mesh: AgentMesh
  let pebble: Pebble | undefined
  let authority: Box
  let edge: Box
  let web: Box
  let browser: Box

  async function prepare(lab: Lab) {
    authority = await lab.box('authority')
    pebble = await startPebble(pebbleProgram ?? '', {
      host: authority.address,
      enter: authority.namespace.enter,
      tlsPort: 443,
    })
    return {
      serverFlags: ['--acme-allow-hosts', `${authority.address}:${pebble.port}`],
      environment: { NODE_EXTRA_CA_CERTS: pebble.caFile, SSL_CERT_FILE: pebble.caFile },
    }
  }

  const statusOf = async (box: Box): Promise<AgentStatus> =>
    JSON.parse((await mesh.agent(box, 'status', '-o', 'json')).stdout) as AgentStatus
  const inSync = () =>
    vi.waitFor(async () => {
      const { exitCode, stdout } = await mesh.operator('bridge', 'status', 'edge-1', '-o', 'json')
      expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 })
    }, WITHIN)
  const page = (name?: string) =>
    askPage(mesh.lab, browser, { address: edge.address, ...(name !== undefined && { name }) })

  beforeAll(async () => {
    mesh = await startAgentMesh('ctlingr', { prepare })
    edge = await mesh.lab.box('edge')
    web = await mesh.lab.box('web')
    browser = await mesh.lab.box('browser')
    await succeeded(mesh.up(edge, '--no-names'))
    await succeeded(mesh.up(web, '--no-names'))
    const names = `echo ${edge.address} blog.example.org >> /etc/hosts`
    await succeeded(mesh.lab.exec(authority, ['sh', '-c', names]))
    const { key, cert } = ownCertificate('shop of the node')
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    writeFileSync(keyFile, key)
    writeFileSync(certFile, cert)
    const { mesh_address: address } = await statusOf(web)
    const site = [process.execPath, SITE, address, '8443', '8081', keyFile, certFile]
    await hasPrinted(mesh.lab.spawn(web, site, { stdio: ['ignore', 'pipe', 'inherit'] }))
    const bridge = ['--kind', 'bridge', '--display-name', 'Edge', '--host-node', 'edge']
    await succeeded(mesh.operator('resources', 'create', 'edge-1', ...bridge))
  })
  afterAll(async () => {
    await pebble?.stop()
    await mesh?.close()
    rmSync(folder, { recursive: true })
  })

  test('passes TLS through to a node by its name, and reports that it is in sync', async () => {
    await succeeded(
      mesh.operator('bridge', 'ingress', 'create', 'shop', '--host', 'shop.example.org', '--target', 'web:8443'),
    )
    await inSync()
    const shop = openBrowser(mesh.lab, browser, { address: edge.address, name: 'shop.example.org' })
    expect(await shop.next()).toEqual({ opened: { subject: 'shop of the node', issuer: 'shop of the node' } })
    shop.send('hello')
    expect(await shop.next()).toEqual({ data: 'node: hello' })
    shop.close()
    expect((await statusOf(edge)).ingress.rules).toMatchObject([
      { slug: 'shop', host: 'shop.example.org', way: 'passthrough', certificate_until: null },
    ])
  })

  test('closes connections of unknown names and those without one', async () => {
    expect(await page('other.example.org')).toEqual({ issuer: '', text: '' })
    expect(await page()).toEqual({ issuer: '', text: '' })
  })

  test('is not for members of the mesh', async () => {
    const { mesh_address: address } = await statusOf(edge)
    const member = openBrowser(mesh.lab, web, { address, name: 'shop.example.org' })
    expect(await member.next()).toEqual({ error: 'ECONNRESET' })
    member.close()
  })

  test('ends TLS with a certificate from ACME, while a connection of before stays open', async () => {
    const shop = openBrowser(mesh.lab, browser, { address: edge.address, name: 'shop.example.org' })
    expect(await shop.next()).toHaveProperty('opened')
    const rule = ['blog', '--host', 'blog.example.org', '--target', 'web:8081', '--acme', pebble?.url ?? '']
    await succeeded(mesh.operator('bridge', 'ingress', 'create', ...rule))
    await inSync()
    await vi.waitFor(async () => {
      const { issuer, text } = await page('blog.example.org')
      expect(issuer).toMatch(/^Pebble Intermediate/)
      expect(text).toContain('node over HTTP: blog.example.org')
    }, WITHIN)
    shop.send('still here')
    expect(await shop.next()).toEqual({ data: 'node: still here' })
    shop.close()
    const rules = (await statusOf(edge)).ingress.rules
    expect(Date.parse(rules[0]?.certificate_until ?? '')).toBeGreaterThan(Date.now())
  })

  test('goes on while the agent is killed and started again, with the connections that are open', async () => {
    const shop = openBrowser(mesh.lab, browser, { address: edge.address, name: 'shop.example.org' })
    expect(await shop.next()).toHaveProperty('opened')
    const before = await processesOf(edge, 'haproxy')
    expect(before.length).toBeGreaterThan(0)
    process.kill(mesh.agentPid(edge), 'SIGKILL')
    shop.send('without the agent')
    expect(await shop.next()).toEqual({ data: 'node: without the agent' })
    await succeeded(mesh.agent(edge, 'up'))
    await vi.waitFor(async () => expect((await statusOf(edge)).ingress.rules).toHaveLength(2), WITHIN)
    await inSync()
    shop.send('with the next one')
    expect(await shop.next()).toEqual({ data: 'node: with the next one' })
    shop.close()
    expect(await processesOf(edge, 'haproxy')).toEqual(expect.arrayContaining(before.slice(0, 1)))
  })

  test('is gone after ctl agent down', async () => {
    await succeeded(mesh.agent(edge, 'down'))
    expect(await processesOf(edge, 'haproxy')).toEqual([])
    expect(await processesOf(edge, 'caddy')).toEqual([])
    expect((await mesh.lab.exec(edge, ['ls', '/run/ctl-ingress'])).stdout).toBe('')
  })
})
