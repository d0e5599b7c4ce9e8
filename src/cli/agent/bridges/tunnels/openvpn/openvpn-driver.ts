import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { explained } from '../../../errors.ts'
import { requireTun } from '../../../system/privileges.ts'
import { endProgram, runningProcesses, type ProgramSign } from '../../../system/background-program.ts'
import { keepRunning, type KeptProcess, type KeptProgram } from '../../../system/kept-process.ts'
import { checkedSubnets } from '../checked-tunnel.ts'
import type { ProgramDriverDeps } from '../driver-deps.ts'
import { lookRegularly } from '../look-regularly.ts'
import { plainPath } from '../plain-path.ts'
import type { Tunnel, TunnelDriver } from '../tunnel-driver.ts'
import { addTun, linkFault, openTunnelLink, removeTunnelLink } from '../tunnel-link.ts'
import { openvpnState } from './management.ts'
import { openvpnConfig } from './openvpn-config.ts'
import { readOpenvpnSecret } from './openvpn-secret.ts'

const LOOK_MS = 5_000
/** OpenVPN itself gives an other end up after 20 s of silence, and begins again. */
const SILENCE_MS_MAX = 60_000

/** What a tunnel needs to run. */
interface Wanted {
  readonly program: KeptProgram
  readonly subnets: readonly string[]
}

interface Running extends Wanted {
  readonly process: KeptProcess
  /** When it was last seen connected with the other end, or was started. */
  connectedMs: number
}

/** Runs tunnels with OpenVPN, one process for each. */
export function createOpenvpnDriver(deps: ProgramDriverDeps): TunnelDriver {
  const running = new Map<string, Running>()
  const placeOf = (name: string) => ({ run: deps.run, name, owner: deps.owner })

  const stopLooking = lookRegularly(LOOK_MS, async () => {
    for (const [name, tunnel] of running) {
      if ((await openvpnState(socketOf(deps, name))) === 'CONNECTED') tunnel.connectedMs = Date.now()
    }
  })

  const stop = async (name: string) => {
    await running.get(name)?.process.stopWatching()
    running.delete(name)
  }
  const run = async (name: string, wanted: Wanted) => {
    const isNew = linkFault(placeOf(name)) !== undefined
    const link = await openTunnelLink(placeOf(name), () => addTun(placeOf(name)))
    await link.setAddress(deps.mesh().address)
    const before = running.get(name)
    if (!isNew && before !== undefined && before.program.stdin === wanted.program.stdin)
      running.set(name, { ...before, ...wanted })
    else {
      await stop(name)
      // One that an earlier agent has started with the same configuration goes on, unless it has lost its interface.
      if (isNew) await endProgram(signOf(deps, name))
      running.set(name, { ...wanted, process: await keepRunning(wanted.program), connectedMs: Date.now() })
    }
    await link.setRoutes(wanted.subnets)
  }
  const remove = async (name: string) => {
    await stop(name)
    await endProgram(signOf(deps, name))
    await removeTunnelLink(placeOf(name))
    for (const path of [socketOf(deps, name), logOf(deps, name)]) await rm(path, { force: true })
  }

  const apply = async (name: string, tunnel: Tunnel) => {
    const subnets = checkedSubnets(tunnel)
    const program = programOf(deps, name, tunnel)
    requireTun('openvpn')
    const before = running.get(name)
    // An earlier agent has started it with the same configuration: it goes on, whatever fails here, and is tried again.
    const isLeft = before === undefined && runningProcesses(program).length > 0
    try {
      await run(name, { program, subnets })
    } catch (error) {
      // The reason is that of the new configuration, also where the former one cannot be started again.
      if (!isLeft) await (before === undefined ? remove(name) : run(name, before)).catch(() => undefined)
      throw error
    }
  }

  return {
    // With the way out, such as the package that is missing.
    apply: ({ interfaceName: name }, tunnel) => apply(name, tunnel).then(() => undefined, explained),
    remove,
    fault(name) {
      const tunnel = running.get(name)
      if (tunnel === undefined) return undefined
      const isSilent = Date.now() - tunnel.connectedMs > SILENCE_MS_MAX
      const fault = linkFault(placeOf(name)) ?? tunnel.process.fault()
      return fault ?? (isSilent ? 'OpenVPN has no connection with the other end.' : undefined)
    },
    async close() {
      stopLooking()
      for (const name of running.keys()) await stop(name)
    },
  }
}

function programOf(deps: ProgramDriverDeps, name: string, tunnel: Tunnel): KeptProgram {
  const socket = plainPath(socketOf(deps, name))
  const { marks: family, recordFile } = signOf(deps, name)
  const stdin = openvpnConfig(tunnel, readOpenvpnSecret(tunnel.secret), { interfaceName: name, socket })
  return {
    program: 'openvpn',
    args: ['--config', 'stdin'],
    family,
    recordFile,
    marks: { ...family, CTL_TUNNEL_CONFIG: createHash('sha256').update(stdin).digest('hex') },
    log: deps.log,
    stdin,
    logFile: logOf(deps, name),
    isReady: async () => (await openvpnState(socket)) !== undefined,
  }
}

function signOf({ folder }: ProgramDriverDeps, name: string): ProgramSign {
  return { marks: { CTL_TUNNEL: join(folder, name) }, recordFile: join(folder, `${name}.pid`) }
}

function socketOf({ folder }: ProgramDriverDeps, name: string): string {
  return join(folder, `${name}.sock`)
}

function logOf({ folder }: ProgramDriverDeps, name: string): string {
  return join(folder, `${name}.log`)
}
