import { reasonOf } from '../../../errors.ts'
import type { Link } from '../../../device/network-link.ts'
import type { ProgramDriverDeps } from '../driver-deps.ts'
import type { TunnelDriver } from '../tunnel-driver.ts'
import { tunnelFault } from '../tunnel-fault.ts'
import { openTunnelLink, removeTunnelLink } from '../tunnel-link.ts'
import { createCharon } from './charon.ts'
import { connectionName } from './connection.ts'
import { addXfrm, renameCharonTun } from './ipsec-links.ts'
import { readIpsecSecret } from './ipsec-secret.ts'
import {
  connectionNames,
  endConnection,
  loadConnection,
  lookAtConnection,
  unloadConnection,
  type Loaded,
} from './loaded-connection.ts'
import type { Vici } from './vici.ts'

const LOOK_MS = 5_000
const SILENCE_MS_MAX = 90_000

/** What carries a tunnel. */
interface Ground {
  readonly vici: Vici
  readonly hasXfrmInterface: boolean
}

interface Running extends Loaded, Ground {
  /** When it was last seen connected with the other end, or was applied. */
  connectedMs: number
  /** Why the last look at it failed. */
  fault: string | undefined
}

/** Runs tunnels with the charon of strongSwan. */
export function createIpsecDriver(deps: ProgramDriverDeps): TunnelDriver {
  const running = new Map<string, Running>()
  const placeOf = (name: string) => ({ run: deps.run, name, owner: deps.owner })
  /** The tunnel whose ESP charon does itself. */
  let userspaceName: string | undefined

  const load = async (name: string, tunnel: Ground & Loaded) => {
    const { hasXfrmInterface } = tunnel
    await loadConnection(tunnel.vici, tunnel, { interfaceName: name, meshCidr: deps.mesh().cidr, hasXfrmInterface })
  }
  const configure = async (link: Link, tunnel: Loaded) => {
    await link.setAddress(deps.mesh().address)
    await link.setRoutes(tunnel.tunnel.allowed_subnets)
  }
  const charon = createCharon({
    folder: deps.folder,
    async onStarted() {
      if (userspaceName !== undefined) await renameCharonTun(placeOf(userspaceName))
      for (const [name, tunnel] of running) {
        await configure(await openTunnelLink(placeOf(name), refuseMissing), tunnel)
        await load(name, tunnel)
      }
    },
  })

  const inUserspace = async (name: string): Promise<Ground> => {
    if (userspaceName !== undefined && userspaceName !== name) throw secondUserspace()
    userspaceName = name
    return { vici: await charon.forUserspace(), hasXfrmInterface: false }
  }
  const inKernel = async (): Promise<Ground> => ({ vici: await charon.forKernel(), hasXfrmInterface: true })
  const open = async (name: string) => {
    let ground: Ground | undefined = running.get(name)
    const link = await openTunnelLink(placeOf(name), async () => {
      ground = (await addXfrm(placeOf(name))) ? await inKernel() : await inUserspace(name)
    })
    // An interface that an earlier agent has left.
    ground ??= (await link.find())?.kind === 'xfrm' ? await inKernel() : await inUserspace(name)
    return { link, ground }
  }
  const run = async (name: string, wanted: Loaded) => {
    const before = running.get(name)
    const { link, ground } = await open(name)
    if (before !== undefined && !isSameKey(before, wanted)) await endConnection(before.vici, name)
    await load(name, { ...ground, ...wanted })
    await configure(link, wanted)
    const { vici, hasXfrmInterface } = ground
    running.set(name, { ...wanted, vici, hasXfrmInterface, connectedMs: Date.now(), fault: undefined })
  }

  const look = async (name: string, tunnel: Running) => {
    try {
      if (!(await connectionNames(tunnel.vici)).includes(connectionName(name))) await load(name, tunnel)
      if (await lookAtConnection(tunnel.vici, tunnel.tunnel, name)) tunnel.connectedMs = Date.now()
      tunnel.fault = undefined
    } catch (error) {
      tunnel.fault = `strongSwan cannot be asked: ${reasonOf(error)}`
    }
  }
  const inTurn = createTurns()
  const looking = setInterval(() => {
    for (const [name, tunnel] of running) {
      void inTurn(async () => (running.get(name) === tunnel ? look(name, tunnel) : undefined))
    }
  }, LOOK_MS).unref()

  const remove = async (name: string) => {
    running.delete(name)
    const charons = await charon.running()
    for (const { vici } of charons) await unloadConnection(vici, name)
    const own = charons.find(({ isOwn }) => isOwn)?.vici
    if (own === undefined || (await connectionNames(own)).length === 0) await charon.endOwn()
    await removeTunnelLink(placeOf(name))
    if (userspaceName === name) userspaceName = undefined
  }
  const apply = async (name: string, wanted: Loaded) => {
    const before = running.get(name)
    try {
      await run(name, wanted)
    } catch (error) {
      // The reason is that of the new configuration, also where the former one cannot be loaded again.
      await (before === undefined ? remove(name) : run(name, before)).catch(() => undefined)
      throw error
    }
  }

  return {
    async apply({ interfaceName: name }, tunnel) {
      const secret = readIpsecSecret(tunnel.secret)
      await inTurn(() => apply(name, { tunnel, secret }))
      return undefined
    },
    remove: (name) => inTurn(() => remove(name)),
    fault(name) {
      const tunnel = running.get(name)
      if (tunnel === undefined) return undefined
      const isSilent = Date.now() - tunnel.connectedMs > SILENCE_MS_MAX
      return charon.fault() ?? tunnel.fault ?? (isSilent ? 'IPsec has no connection with the other end.' : undefined)
    },
    async close() {
      clearInterval(looking)
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

async function refuseMissing(): Promise<never> {
  throw tunnelFault('The interface of the tunnel is gone.')
}

function isSameKey(one: Loaded, other: Loaded): boolean {
  return Buffer.from(one.secret.psk).equals(other.secret.psk)
}

function secondUserspace(): Error {
  return tunnelFault(
    'The kernel of this machine has no XFRM interfaces (CONFIG_XFRM_INTERFACE); without them it can have one IPsec tunnel.',
    { hint: 'Run a kernel that has them, or host the other tunnel on another machine.' },
  )
}
