import type { Device, DeviceOptions } from '../../../device/device.ts'
import { sameKey } from '../../../device/keys.ts'
import { reasonOf } from '../../../errors.ts'
import { doEach } from '../../../process/do-each.ts'
import type { SiteSecret } from './site-secret.ts'
import type { SiteTunnel } from './site-tunnel.ts'

/** The WireGuard tunnels that are open, by interface. Callers make one change at a time. */
export interface OpenSites {
  /** Opens the interface, or changes it. @throws CliError where it goes on as it was, or is not there */
  place(name: string, secret: SiteSecret, make: MakeSite): Promise<void>
  remove(name: string): Promise<void>
  /** Gives an interface its peer, address and routes again. */
  putAgain(name: string): Promise<void>
  list(): readonly (readonly [name: string, site: SiteTunnel])[]
  find(name: string): SiteTunnel | undefined
  /** Notes why a tunnel does not work at all; undefined: it does. */
  note(name: string, fault: string | undefined): void
  fault(name: string): string | undefined
  /** Ends watching; interfaces stay. */
  close(): Promise<void>
}

/** Makes the tunnel over its interface. */
export type MakeSite = (device: Device) => SiteTunnel

/** What they need. */
export interface OpenSitesDeps {
  readonly openInterface: (name: string, secret: SiteSecret) => Promise<Device>
  /** Removes an interface of this node that is not open, if there is one of that name. */
  readonly removeDevice: (name: string) => Promise<void>
  readonly isOwn: DeviceOwner
  /** Makes a tunnel like this one over an interface that was opened again. */
  readonly remake: (site: SiteTunnel, device: Device) => SiteTunnel
}

type DeviceOwner = (interfaceName: DeviceOptions['name']) => boolean

/** Makes them. */
export function createOpenSites(deps: OpenSitesDeps): OpenSites {
  const open = new Map<string, SiteTunnel>()
  const broken = new Map<string, string>()

  function note(name: string, fault: string | undefined): void {
    if (fault === undefined) broken.delete(name)
    else broken.set(name, fault)
  }

  async function putAgain(name: string): Promise<void> {
    const putting = open.get(name)?.put()
    note(name, await putting?.then(() => undefined, reasonOf))
  }

  /** The interface with the key and the port of the secret. Where it cannot have them it goes on with the former ones. */
  async function interfaceFor(name: string, secret: SiteSecret): Promise<Device> {
    const former = open.get(name)
    if (former === undefined) return deps.openInterface(name, secret)
    if (isSameInterface(former.secret, secret)) return former.device
    await former.device.close()
    return deps.openInterface(name, secret).catch(async (error: unknown) => {
      await goBack(name, former)
      throw error
    })
  }

  /**
   * Opens the interface with its former key, and gives it its former peer. Where that fails, too, the tunnel is broken and its interface
   * stays as it is: the next change opens it.
   */
  async function goBack(name: string, former: SiteTunnel): Promise<void> {
    await open.get(name)?.device.close()
    open.delete(name)
    try {
      open.set(name, deps.remake(former, await deps.openInterface(name, former.secret)))
      await putAgain(name)
    } catch (error) {
      note(name, reasonOf(error))
    }
  }

  /** What an earlier process has left goes on; what was made just now does not stay. */
  async function leave(name: string, how: 'remove' | 'close'): Promise<void> {
    await open.get(name)?.device[how]()
    open.delete(name)
    broken.delete(name)
  }

  return {
    async place(name, secret, make) {
      const former = open.get(name)
      const isNew = former === undefined && !deps.isOwn(name)
      open.set(name, make(await interfaceFor(name, secret)))
      try {
        await open.get(name)?.put()
        broken.delete(name)
      } catch (error) {
        if (former !== undefined) await goBack(name, former)
        else await leave(name, isNew ? 'remove' : 'close')
        throw error
      }
    },
    async remove(name) {
      if (!open.has(name)) await deps.removeDevice(name)
      await leave(name, 'remove')
    },
    putAgain,
    list: () => [...open],
    find: (name) => open.get(name),
    note,
    fault: (name) => broken.get(name) ?? open.get(name)?.fault(),
    close: () => doEach([...open.values()].map((site) => () => site.device.close())),
  }
}

function isSameInterface(one: SiteSecret, other: SiteSecret): boolean {
  return sameKey(one.privateKey, other.privateKey) && one.listenPort === other.listenPort
}
