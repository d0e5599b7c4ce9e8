import { explained, reasonOf } from '../../../errors.ts'
import { checkedSubnets } from '../checked-tunnel.ts'
import type { ProgramDriverDeps } from '../driver-deps.ts'
import { lookRegularly } from '../look-regularly.ts'
import type { Tunnel, TunnelDriver } from '../tunnel-driver.ts'
import { linkFault, openTunnelLink, removeTunnelLink } from '../tunnel-link.ts'
import { createCharon } from './charon.ts'
import { ownSocket } from './charon-program.ts'
import { connectionName } from './connection.ts'
import { readIpsecSecret } from './ipsec-secret.ts'
import {
  connectionNames,
  endConnection,
  loadConnection,
  lookAtConnection,
  unloadConnection,
  type Loaded,
} from './loaded-connection.ts'
import { addXfrm } from './xfrm-link.ts'
import type { Vici } from './vici.ts'

const LOOK_MS = 5_000
const SILENCE_MS_MAX = 90_000

interface Running extends Loaded {
  readonly vici: Vici
  /** When it was last seen connected with the other end, or was applied. */
  connectedMs: number
  /** Why the last look at it failed. */
  fault: string | undefined
}

/**
 * Runs tunnels with the charon of strongSwan, and an XFRM interface of the kernel for each. charon takes connections over its
 * control interface: no file has them, and connections that others have configured stay as they are.
 */
export function createIpsecDriver(deps: ProgramDriverDeps): TunnelDriver {
  const running = new Map<string, Running>()
  const placeOf = (name: string) => ({ run: deps.run, name, owner: deps.owner })
  const openLink = (name: string) => openTunnelLink(placeOf(name), () => addXfrm(placeOf(name)))
  const load = (name: string, vici: Vici, wanted: Loaded) =>
    loadConnection(vici, wanted, { interfaceName: name, meshCidr: deps.mesh().cidr })
  const charon = createCharon({
    folder: deps.folder,
    log: deps.log,
    async onStarted() {
      for (const [name, tunnel] of running) await load(name, tunnel.vici, tunnel)
    },
  })

  const run = async (name: string, wanted: Loaded) => {
    const before = running.get(name)
    const link = await openLink(name)
    const vici = before?.vici ?? (await charon.open())
    // First: charon begins the connection at once.
    await link.setAddress(deps.mesh().address)
    await link.setRoutes(wanted.tunnel.allowed_subnets)
    if (before !== undefined && !isSameKey(before, wanted)) await endConnection(vici, name)
    await load(name, vici, wanted)
    running.set(name, { ...wanted, vici, connectedMs: Date.now(), fault: undefined })
  }

  const look = async (name: string, tunnel: Running) => {
    try {
      if (!(await connectionNames(tunnel.vici)).includes(connectionName(name))) await load(name, tunnel.vici, tunnel)
      if (await lookAtConnection(tunnel.vici, tunnel.tunnel, name)) tunnel.connectedMs = Date.now()
      tunnel.fault = undefined
    } catch (error) {
      tunnel.fault = `strongSwan cannot be asked: ${reasonOf(error)}`
    }
  }
  const inTurn = createTurns()
  const stopLooking = lookRegularly(LOOK_MS, async () => {
    for (const [name, tunnel] of running) {
      await inTurn(async () => (running.get(name) === tunnel ? look(name, tunnel) : undefined))
    }
  })

  const remove = async (name: string) => {
    running.delete(name)
    const charons = await charon.running()
    for (const { vici } of charons) await unloadConnection(vici, name)
    const own = charons.find(({ isOwn }) => isOwn)?.vici
    if (own === undefined || (await connectionNames(own)).length === 0) await charon.endOwn()
    await removeTunnelLink(placeOf(name))
  }
  const isLoaded = async (name: string) => {
    const lists = (await charon.running()).map(({ vici }) => connectionNames(vici))
    return (await Promise.all(lists)).flat().includes(connectionName(name))
  }
  const apply = async (name: string, wanted: Loaded) => {
    const before = running.get(name)
    // An earlier agent has loaded it: it goes on, whatever fails here, and is tried again.
    const isLeft = before === undefined && (await isLoaded(name))
    try {
      await run(name, wanted)
    } catch (error) {
      // The reason is that of the new configuration, also where the former one cannot be loaded again.
      if (!isLeft) await (before === undefined ? remove(name) : run(name, before)).catch(() => undefined)
      throw error
    }
  }

  const applyChecked = async (name: string, tunnel: Tunnel) => {
    const secret = readIpsecSecret(tunnel.secret)
    checkedSubnets(tunnel)
    // Before anything is made, which could not be removed: charon is looked for there, too.
    ownSocket(deps.folder)
    await inTurn(() => apply(name, { tunnel, secret }))
  }

  return {
    // With the way out, such as the package that is missing.
    apply: ({ interfaceName: name }, tunnel) => applyChecked(name, tunnel).then(() => undefined, explained),
    remove: (name) => inTurn(() => remove(name)),
    fault(name) {
      const tunnel = running.get(name)
      if (tunnel === undefined) return undefined
      const isSilent = Date.now() - tunnel.connectedMs > SILENCE_MS_MAX
      const fault = linkFault(placeOf(name)) ?? charon.fault() ?? tunnel.fault
      return fault ?? (isSilent ? 'IPsec has no connection with the other end.' : undefined)
    },
    async close() {
      stopLooking()
      await inTurn(async () => running.clear())
      await charon.stopWatching()
    },
  }
}

/** Lets one piece of work begin after another has ended. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined) // Its caller has the error.
    return next
  }
}

function isSameKey(one: Loaded, other: Loaded): boolean {
  return Buffer.from(one.secret.psk).equals(other.secret.psk)
}
