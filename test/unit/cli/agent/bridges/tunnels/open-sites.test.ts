import { beforeEach, describe, expect, test } from 'vitest'
import {
  createOpenSites,
  type MakeSite,
  type OpenSites,
} from '../../../../../../src/cli/agent/bridges/tunnels/wireguard/open-sites.ts'
import type { SiteSecret } from '../../../../../../src/cli/agent/bridges/tunnels/wireguard/site-secret.ts'
import type { SiteTunnel } from '../../../../../../src/cli/agent/bridges/tunnels/wireguard/site-tunnel.ts'
import type { Device } from '../../../../../../src/cli/agent/device/device.ts'

const NAME = 's2sw01234567890'

let calls: string[]
/** Ports that the machine refuses. */
let taken: Set<number>
let sites: OpenSites

const secretWith = (listenPort: number): SiteSecret => ({
  privateKey: new Uint8Array(32).fill(7),
  peerPublicKey: 'key',
  presharedKey: undefined,
  listenPort,
  address: undefined,
})

/** A tunnel whose interface refuses its peer where `isRefused`. */
function siteWith(secret: SiteSecret, isRefused = false): MakeSite {
  return (device) => {
    const site: Partial<SiteTunnel> = {
      secret,
      device,
      async put() {
        calls.push(`put ${secret.listenPort}`)
        if (isRefused) throw new Error('the route is refused')
      },
      fault: () => undefined,
    }
    return site as SiteTunnel
  }
}

beforeEach(() => {
  calls = []
  taken = new Set()
  sites = createOpenSites({
    async openInterface(name, { listenPort }) {
      calls.push(`open ${listenPort}`)
      if (taken.has(listenPort)) throw new Error(`port ${listenPort} is taken`)
      const device: Partial<Device> = {
        name,
        close: async () => void calls.push(`close ${listenPort}`),
        remove: async () => void calls.push(`remove ${listenPort}`),
      }
      return device as Device
    },
    removeDevice: async (name) => void calls.push(`remove ${name}`),
    isOwn: () => false,
    remake: ({ secret }, device) => siteWith(secret)(device),
  })
})

describe('an open WireGuard tunnel', () => {
  test('goes on with its former key and peer where the new ones are refused', async () => {
    await sites.place(NAME, secretWith(1), siteWith(secretWith(1)))
    taken.add(2)
    await expect(sites.place(NAME, secretWith(2), siteWith(secretWith(2)))).rejects.toThrow('port 2 is taken')
    await expect(sites.place(NAME, secretWith(3), siteWith(secretWith(3), true))).rejects.toThrow('the route')
    expect(calls.slice(-3)).toEqual(['close 3', 'open 1', 'put 1'])
    expect([sites.find(NAME)?.secret.listenPort, sites.fault(NAME)]).toEqual([1, undefined])
  })

  test('is named and opened by the next change where it cannot go back, and the first reason is given', async () => {
    await sites.place(NAME, secretWith(1), siteWith(secretWith(1)))
    taken = new Set([1, 2])
    await expect(sites.place(NAME, secretWith(2), siteWith(secretWith(2)))).rejects.toThrow('port 2 is taken')
    expect(sites.fault(NAME)).toBe('port 1 is taken')
    taken.clear()
    calls = []
    await sites.place(NAME, secretWith(1), siteWith(secretWith(1)))
    expect(calls).toEqual(['open 1', 'put 1'])
    expect(sites.fault(NAME)).toBeUndefined()
  })

  test('is removed with what was wrong with it, also where it is not open', async () => {
    await sites.place(NAME, secretWith(1), siteWith(secretWith(1)))
    taken = new Set([1, 2])
    await expect(sites.place(NAME, secretWith(2), siteWith(secretWith(2)))).rejects.toThrow()
    await sites.remove(NAME)
    expect([calls.at(-1), sites.fault(NAME)]).toEqual([`remove ${NAME}`, undefined])
  })
})
