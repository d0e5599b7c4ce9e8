import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bundledChild } from '../../../support/mesh/bundled-child.ts'
import { createTwoSites, TUNNEL, type Site, type TwoSites } from '../../../support/mesh/two-sites.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const isMissing = (['mesh-lab', 'strongswan'] as const).some((name) => requirement(name) === undefined)
const WAIT = { timeout: 60_000, interval: 100 }

const SYSTEM_LOG = '/run/charon.log'

/** A charon as a machine may run it, which does ESP itself: the kernel of the machine of the test may have none. */
const SYSTEM_CHARON = `charon-systemd {
  load_modular = no
  load = random drbg nonce aes sha1 sha2 hmac kdf gmp x509 pubkey pem kernel-libipsec kernel-netlink socket-default vici
  filelog {
    system {
      path = ${SYSTEM_LOG}
      default = 1
    }
  }
  journal {
    default = -1
  }
}
`

describe.skipIf(isMissing)('tunnels with IPsec', { timeout: 120_000 }, () => {
  let bundle: string
  let sites: TwoSites
  const charons = new Map<Site, ChildProcess>()
  const psk = `0x${randomBytes(32).toString('hex')}`

  beforeAll(async () => {
    bundle = await bundledChild('tunnel-driver-child.ts')
  })
  beforeEach(async () => {
    sites = await createTwoSites({ kind: 'ipsec', hasXfrmStandIn: true }, bundle)
  })
  afterEach(() => sites.close())
  afterAll(() => rmSync(join(bundle, '..'), { recursive: true }))

  const towards = ({ box }: Site, more: object = {}) => ({ remote_host: box.address, remote_port: 500, ...more })
  const applyOne = (secret: object = { psk }, more?: object) => sites.one.apply(towards(sites.other, more), secret)
  const applyOther = (secret: object = { psk }, more?: object) => sites.other.apply(towards(sites.one, more), secret)
  const connected = () => vi.waitFor(async () => expect(await sites.other.reaches(sites.one.address)).toBe(true), WAIT)
  const swanctl = ({ output, side }: Site, ...args: readonly string[]) =>
    output('swanctl', ...args, '--uri', `unix://${join(side.folder, 'charon.vici')}`)
  const systemSwanctl = ({ output }: Site, ...args: readonly string[]) => output('swanctl', ...args)
  const startSystemCharon = async (site: Site) => {
    await sites.lab.exec(site.box, ['tee', '/run/strongswan.conf'], { stdin: SYSTEM_CHARON })
    const argv = ['env', 'STRONGSWAN_CONF=/run/strongswan.conf', 'charon-systemd']
    charons.set(site, sites.lab.spawn(site.box, argv, { stdio: 'ignore' }))
    await vi.waitFor(async () => expect(await systemSwanctl(site, '--stats')).toContain('uptime'), WAIT)
  }
  const loadConnectionOfAnother = async (site: Site) => {
    const connection =
      'connections { branch { remote_addrs = 192.0.2.1\nlocal { auth = psk }\nremote { auth = psk }\nchildren { branch { } } } }'
    await sites.lab.exec(site.box, ['tee', '/run/branch.conf'], { stdin: connection })
    expect(await systemSwanctl(site, '--load-conns', '--file', '/run/branch.conf')).toContain(
      "loaded connection 'branch'",
    )
  }

  it('carry packets both ways through the charon that the machines run, beside what others have configured there', async () => {
    for (const site of [sites.one, sites.other]) await startSystemCharon(site)
    await loadConnectionOfAnother(sites.one)
    await applyOne()
    await applyOther()
    await connected()
    await expect.poll(() => sites.one.reaches(sites.other.address)).toBe(true)
    expect(await sites.one.fault()).toBeNull()
    // No charon of its own, and no file with the key.
    expect(await sites.one.carriers()).toEqual([])
    expect(sites.one.files()).toEqual([])

    await sites.one.remove()
    const names = await systemSwanctl(sites.one, '--list-conns')
    expect(names).toContain('branch: IKEv1/2')
    expect(names).not.toContain('ctl-')
    expect(await systemSwanctl(sites.one, '--list-sas')).toBe('')
    expect(await sites.other.reaches(sites.one.address)).toBe(false)
  })

  it('begin from the port 4500 where the other end is not at 500, with the identities and networks of the secret', async () => {
    for (const site of [sites.one, sites.other]) await startSystemCharon(site)
    const one = { psk, local_id: 'one.example', remote_id: 'other@example', local_subnets: ['10.50.0.0/28'] }
    await applyOne(one, { routing_policy: 'ingress_only' })
    await applyOther({ psk, local_id: 'other@example', remote_id: 'one.example' }, { remote_port: 4500 })
    await connected()
    const sas = await systemSwanctl(sites.other, '--list-sas')
    expect(sas).toContain("remote 'one.example' @ 10.99.1.2[4500]")
    expect(sas).toContain('remote 10.50.0.0/28')
  })

  it('begin no connection where only the other end may, and none with another key', async () => {
    for (const site of [sites.one, sites.other]) await startSystemCharon(site)
    await applyOne({ psk }, { routing_policy: 'ingress_only' })
    await applyOther({ psk: `0s${randomBytes(32).toString('base64')}` })
    await vi.waitFor(async () => {
      const log = await sites.one.output('cat', SYSTEM_LOG)
      expect(log).toContain('is initiating an IKE_SA')
      expect(log).toMatch(/MAC mismatched|AUTH_FAILED/)
    }, WAIT)
    expect(await sites.one.output('cat', SYSTEM_LOG)).not.toContain('initiating IKE_SA ctl-')
    expect(await sites.other.reaches(sites.one.address)).toBe(false)

    // A changed secret is used at once.
    await applyOther()
    await connected()
  })

  it('keep their connection while the agent is away, and when the next one loads the same again', async () => {
    for (const site of [sites.one, sites.other]) await startSystemCharon(site)
    await applyOne()
    await applyOther({ psk }, { routing_policy: 'ingress_only' })
    await connected()
    const established = async () =>
      /ctl-ctltunnel0: #(\d+), ESTABLISHED/.exec(await systemSwanctl(sites.one, '--list-sas'))?.[1]
    const before = await established()
    await sites.one.restart()
    expect(await sites.other.reaches(sites.one.address)).toBe(true)
    await applyOne()
    expect(await sites.other.reaches(sites.one.address)).toBe(true)
    expect(await established()).toBe(before)
  })

  it('are loaded again by a charon that was started again', async () => {
    for (const site of [sites.one, sites.other]) await startSystemCharon(site)
    await applyOne()
    await applyOther()
    await connected()
    charons.get(sites.one)?.kill('SIGKILL')
    await startSystemCharon(sites.one)
    await connected()
    await vi.waitFor(async () => expect(await sites.one.fault()).toBeNull(), WAIT)
  })

  it('are loaded into a charon of the agent where the machine runs none, which is started again when it dies', async () => {
    await applyOne()
    expect(await swanctl(sites.one, '--list-conns')).toContain('ctl-ctltunnel0: IKEv2')
    const before = await sites.one.carriers()
    expect(before).toHaveLength(1)
    await sites.one.restart()
    await applyOne()
    expect(await sites.one.carriers()).toEqual(before)

    process.kill(before[0] ?? 0, 'SIGKILL')
    await vi.waitFor(async () => {
      expect(await swanctl(sites.one, '--list-conns')).toContain('ctl-ctltunnel0: IKEv2')
      expect(await sites.one.carriers()).not.toEqual(before)
    }, WAIT)
  })

  it('leave no interface, process, file or route behind when they are removed, also by another process', async () => {
    await applyOne()
    await applyOther()
    await sites.other.remove()
    await sites.one.restart()
    await sites.one.remove()
    for (const site of [sites.one, sites.other]) {
      expect(await site.carriers()).toEqual([])
      expect(site.files()).toEqual([])
      expect(await site.output('ip', '-o', 'link', 'show')).not.toContain(TUNNEL)
    }
    expect(await sites.one.output('ip', 'route')).not.toContain('10.60.0.0')
  })

  it('go on as before where a change cannot be applied', async () => {
    await applyOne()
    await expect(applyOne({ psk: '0x00' })).rejects.toThrow('a "psk" that is not 16 to 512 bytes long')
    await expect(applyOne({ psk }, { allowed_subnets: ['2001:db8::/33', '10.60.0.1/16'] })).rejects.toThrow(
      'The subnet "10.60.0.1/16" must have no host bits set.',
    )
    expect(await swanctl(sites.one, '--list-conns')).toContain('remote: 10.60.0.0/24')
  })

  it('go on as before where the first try of the next agent fails, and are taken over by a later one', async () => {
    await applyOne()
    const before = await sites.one.carriers()
    await sites.one.restart()
    const withIpv6 = (isDisabled: 0 | 1) =>
      sites.one.output('sysctl', '-w', `net.ipv6.conf.${TUNNEL}.disable_ipv6=${isDisabled}`)
    const subnets = { allowed_subnets: ['10.60.0.0/24', '2001:db8::/33'] }
    expect(await withIpv6(1)).toContain('= 1')
    await expect(applyOne({ psk }, subnets)).rejects.toThrow('2001:db8::/33')
    expect(await swanctl(sites.one, '--list-conns')).toContain('ctl-ctltunnel0: IKEv2')
    expect(await sites.one.output('ip', 'route')).toContain('10.60.0.0')
    await withIpv6(0)
    await applyOne({ psk }, subnets)
    expect(await sites.one.carriers()).toEqual(before)
    expect(await swanctl(sites.one, '--list-conns')).toContain('2001:db8::/33')
  })

  it('are refused with the name of the package where strongSwan is not installed, and leave nothing', async () => {
    const folder = '/run/no-strongswan'
    await sites.one.output('mkdir', folder)
    await sites.one.output('mount', '--bind', folder, '/usr/sbin')
    await expect(applyOne()).rejects.toThrow('charon-systemd is not installed. Install it: apt install charon-systemd')
    expect(await sites.one.output('/bin/ip', '-o', 'link', 'show')).not.toContain(TUNNEL)
  })
})

describe.skipIf(isMissing)('an IPsec tunnel on a kernel without XFRM interfaces', { timeout: 180_000 }, () => {
  it('is refused with what is missing, and starts nothing', async () => {
    const bundle = await bundledChild('tunnel-driver-child.ts')
    const sites = await createTwoSites({ kind: 'ipsec' }, bundle)
    try {
      const probe = ['ip', 'link', 'add', 'dev', 'probe', 'type', 'xfrm', 'if_id', '1']
      const isPresent = (await sites.lab.exec(sites.one.box, probe)).exitCode === 0
      const secret = { psk: `0x${randomBytes(32).toString('hex')}` }
      const applied = sites.one.apply({ remote_host: sites.other.box.address, remote_port: 500 }, secret)
      await (isPresent
        ? expect(applied).resolves.toBeUndefined()
        : expect(applied).rejects.toThrow('CONFIG_XFRM_INTERFACE'))
      expect(await sites.one.carriers()).toHaveLength(isPresent ? 1 : 0)
    } finally {
      await sites.close()
      rmSync(join(bundle, '..'), { recursive: true })
    }
  })
})
