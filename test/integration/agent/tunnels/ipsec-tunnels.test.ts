import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bundledChild } from '../../../support/mesh/bundled-child.ts'
import { createTwoSites, TUNNEL, type Site, type TwoSites } from '../../../support/mesh/two-sites.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const isMissing = ['mesh-lab', 'strongswan'].some((name) => requirement(name) === undefined)
const WAIT = { timeout: 60_000, interval: 100 }

describe.skipIf(isMissing)('tunnels with IPsec', { timeout: 120_000 }, () => {
  let bundle: string
  let sites: TwoSites
  const psk = `0x${randomBytes(32).toString('hex')}`

  beforeAll(async () => {
    bundle = await bundledChild('tunnel-driver-child.ts')
  })
  beforeEach(async () => {
    sites = await createTwoSites('ipsec', bundle)
  })
  afterEach(() => sites.close())
  afterAll(() => rmSync(join(bundle, '..'), { recursive: true }))

  const towards = ({ box }: Site, more: object = {}) => ({ remote_host: box.address, remote_port: 500, ...more })
  const applyOne = (secret: object = { psk }, more?: object) => sites.one.apply(towards(sites.other, more), secret)
  const applyOther = (secret: object = { psk }, more?: object) => sites.other.apply(towards(sites.one, more), secret)
  const connected = () => vi.waitFor(async () => expect(await sites.other.reaches(sites.one.address)).toBe(true), WAIT)
  const swanctl = (site: Site, ...args: readonly string[]) =>
    site.output('swanctl', ...args, '--uri', `unix://${join(site.side.folder, 'charon.vici')}`)

  it('carry packets both ways between two sites', async () => {
    await applyOne()
    await applyOther()
    await connected()
    expect(await sites.one.reaches(sites.other.address)).toBe(true)
    expect(await swanctl(sites.one, '--list-conns')).toMatch(/ctl-ctltunnel0: IKEv2/)
    expect(await sites.one.output('ip', '-o', 'link', 'show', 'dev', TUNNEL)).toContain('alias ctl node-one')
    expect(await sites.one.fault()).toBeNull()
  })
})
