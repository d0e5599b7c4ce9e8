import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bundledChild } from '../../../support/mesh/bundled-child.ts'
import { createTwoSites, TUNNEL, type Site, type TwoSites } from '../../../support/mesh/two-sites.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const isMissing = (['mesh-lab', 'strongswan'] as const).some((name) => requirement(name) === undefined)
const WAIT = { timeout: 60_000, interval: 100 }

/** A charon as a machine may run it, which does ESP itself: the kernel of the machine of the test may have none. */
const SYSTEM_CHARON = `charon-systemd {
  load_modular = no
  load = random drbg nonce aes sha1 sha2 hmac kdf gmp x509 pubkey pem kernel-libipsec kernel-netlink socket-default vici
  filelog {
    stderr {
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
    sites.lab.spawn(site.box, argv, { stdio: 'ignore' })
    await vi.waitFor(async () => expect(await systemSwanctl(site, '--stats')).toContain('uptime'), WAIT)
  }

  it('carry packets both ways through the charon that the machines run, beside what others have configured there', async () => {
    for (const site of [sites.one, sites.other]) await startSystemCharon(site)
    await applyOne()
    await applyOther()
    await connected()
    expect(await sites.one.reaches(sites.other.address)).toBe(true)
    expect(await sites.one.fault()).toBeNull()
    expect(await sites.one.carriers()).toEqual([])
    expect(sites.one.files()).toEqual([])
  })

  it('are loaded into a charon of the agent where the machine runs none', async () => {
    await applyOne()
    expect(await swanctl(sites.one, '--list-conns')).toMatch(/ctl-ctltunnel0: IKEv2/)
    expect(await sites.one.output('ip', '-o', 'link', 'show', 'dev', TUNNEL)).toContain('alias ctl node-one')
    expect(await sites.one.carriers()).toHaveLength(1)
  })
})
