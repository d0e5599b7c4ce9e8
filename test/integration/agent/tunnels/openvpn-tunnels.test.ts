import { X509Certificate } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bundledChild } from '../../../support/mesh/bundled-child.ts'
import { nextLine } from '../../../support/mesh/next-line.ts'
import { createTwoSites, TUNNEL, type Site, type TwoSites } from '../../../support/mesh/two-sites.ts'
import { selfSigned } from '../../../support/network/self-signed.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const isMissing = (['mesh-lab', 'openvpn', 'openssl'] as const).some((name) => requirement(name) === undefined)
const WAIT = { timeout: 60_000, interval: 100 }

describe.skipIf(isMissing)('tunnels with OpenVPN', { timeout: 120_000 }, () => {
  let bundle: string
  let sites: TwoSites
  const [mine, theirs] = isMissing ? [] : [selfSigned(), selfSigned()]

  beforeAll(async () => {
    bundle = await bundledChild('tunnel-driver-child.ts')
  })
  beforeEach(async () => {
    sites = await createTwoSites({ kind: 'openvpn' }, bundle)
  })
  afterEach(() => sites.close())
  afterAll(() => rmSync(join(bundle, '..'), { recursive: true }))

  const secret = (role: 'server' | 'client', more: object = {}) => {
    const [own, peer] = role === 'server' ? [mine, theirs] : [theirs, mine]
    const fingerprint = new X509Certificate(peer?.cert ?? '').fingerprint256
    return { role, certificate: own?.cert, private_key: own?.key, peer_fingerprint: fingerprint, ...more }
  }
  const server = (more?: object) => sites.one.apply(remote(sites.other), secret('server', more))
  const client = (more?: object) => sites.other.apply(remote(sites.one), secret('client', more))
  const remote = ({ box }: Site) => ({ remote_host: box.address, remote_port: 1194 })
  const connected = () => vi.waitFor(async () => expect(await sites.other.reaches(sites.one.address)).toBe(true), WAIT)

  it.each(['udp', 'tcp'])('carry packets both ways between two sites over %s', async (proto) => {
    await server({ proto })
    await client({ proto })
    await connected()
    await expect.poll(() => sites.one.reaches(sites.other.address)).toBe(true)
    expect(await sites.one.output('ip', '-o', 'link', 'show', 'dev', TUNNEL)).toContain('alias ctl node-one')
    expect(await sites.one.output('ip', 'route', 'show', 'dev', TUNNEL)).toBe('10.60.0.0/24 scope link \n')
    expect(await sites.one.fault()).toBeNull()
  })

  it('refuse an other end with another certificate than the secret names', async () => {
    const stranger = selfSigned()
    await server()
    await client({ certificate: stranger.cert, private_key: stranger.key })
    const log = join(sites.one.side.folder, `${TUNNEL}.log`)
    await vi.waitFor(
      async () => expect(await sites.one.output('cat', log)).toMatch(/VERIFY.*(ERROR|FAILED)|fingerprint/),
      WAIT,
    )
    expect(await sites.other.reaches(sites.one.address)).toBe(false)
  })

  it('start openvpn again when it dies, and keep the interface and its routes meanwhile', async () => {
    await server()
    await client()
    await connected()
    const [before = 0] = await sites.one.carriers()
    process.kill(before, 'SIGKILL')
    expect(await sites.one.output('ip', 'route', 'show', 'dev', TUNNEL)).toContain('10.60.0.0/24')
    await vi.waitFor(async () => {
      const after = await sites.one.carriers()
      expect(after).toHaveLength(1)
      expect(after).not.toContain(before)
    }, WAIT)
    await connected()
  })

  it('outlive the agent; the next one takes openvpn over with the same configuration, and replaces it with another', async () => {
    await server()
    await client()
    await connected()
    const before = await sites.one.carriers()
    await sites.one.restart()
    expect(await sites.other.reaches(sites.one.address)).toBe(true)
    await server()
    expect(await sites.one.carriers()).toEqual(before)
    expect(await sites.other.reaches(sites.one.address)).toBe(true)

    await sites.one.restart()
    await server({ port: 1195 })
    expect(await sites.one.carriers()).toHaveLength(1)
    expect(await sites.one.carriers()).not.toEqual(before)
    expect(await sites.one.output('ss', '-Hlun')).toContain(':1195')
  })

  it('go on as before where a change cannot be applied', async () => {
    await server()
    await client()
    await connected()
    const before = await sites.one.carriers()
    await expect(server({ private_key: theirs?.key })).rejects.toThrow('does not belong to its "certificate"')
    expect(await sites.one.carriers()).toEqual(before)

    const taken = "require('dgram').createSocket('udp4').bind(1300, () => console.log('bound'))"
    await nextLine(sites.lab.spawn(sites.one.box, [process.execPath, '-e', taken]), 'stdout')
    await expect(server({ port: 1300 })).rejects.toThrow('Address already in use')
    expect(await sites.one.carriers()).toHaveLength(1)
    expect(await sites.one.output('ss', '-Hlun')).toContain(':1194')
    await connected()
  })

  it('leave no interface, process or file behind when they are removed, also by another process than the one that made them', async () => {
    await server()
    await client()
    await connected()
    await sites.other.remove()
    await sites.one.restart()
    await sites.one.remove()
    for (const site of [sites.one, sites.other]) {
      expect(await site.carriers()).toEqual([])
      expect(site.files()).toEqual([])
      expect(await site.output('ip', '-o', 'link', 'show')).not.toContain(TUNNEL)
      expect(await site.output('ip', 'route')).not.toContain(site === sites.one ? '10.60.0.0' : '10.50.0.0')
    }
  })

  it('do not touch an interface of that name that another program has made', async () => {
    await sites.one.box.namespace.ip([`tuntap add dev ${TUNNEL} mode tun`])
    await expect(server()).rejects.toThrow(`interface ${TUNNEL} that does not belong to this agent`)
    await sites.one.remove()
    expect(await sites.one.output('ip', '-o', 'link', 'show', 'dev', TUNNEL)).toContain(TUNNEL)
    expect(await sites.one.carriers()).toEqual([])
  })

  it('are refused with the name of the package where openvpn is not installed, and leave nothing', async () => {
    await sites.one.output('mkdir', '/run/no-openvpn')
    await sites.one.output('mount', '--bind', '/run/no-openvpn', '/usr/sbin')
    await expect(server()).rejects.toThrow('openvpn is not installed. Install it: apt install openvpn')
    expect(await sites.one.output('/bin/ip', '-o', 'link', 'show')).not.toContain(TUNNEL)
  })
})
