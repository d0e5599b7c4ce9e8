import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ProgramDriverDeps } from '../../../src/cli/agent/bridges/tunnels/driver-deps.ts'
import type { Tunnel, TunnelPlace } from '../../../src/cli/agent/bridges/tunnels/tunnel-driver.ts'
import { preserve } from './device-calls.ts'
import type { Box, Lab } from './lab.ts'

/** What `tunnel-driver-child` is started with. */
export interface TunnelSide extends Pick<ProgramDriverDeps, 'owner' | 'folder'> {
  readonly kind: 'ipsec' | 'openvpn'
  readonly mesh: ReturnType<ProgramDriverDeps['mesh']>
  /** XFRM interfaces are replaced by TUN interfaces, which carry nothing. */
  readonly hasXfrmStandIn?: boolean
}

/** What `tunnel-driver-child` is asked for. */
export type TunnelCall =
  | { readonly method: 'apply'; readonly place: TunnelPlace; readonly tunnel: Tunnel }
  | { readonly method: 'remove' | 'fault'; readonly interfaceName: string }
  | { readonly method: 'close' }

/** A process in a box that runs tunnels. */
export interface TunnelDriverProcess {
  /** Resolves with the answer of the driver. Rejects with the message and the hint of its error. */
  call(call: TunnelCall): Promise<unknown>
  /** Kills the process, as nothing that it can prepare for. */
  kill(): Promise<void>
}

/** Starts the bundled `tunnel-driver-child` in a box. */
export function startTunnelDriver(
  lab: Lab,
  box: Box,
  { bundle, side }: { readonly bundle: string; readonly side: TunnelSide },
): TunnelDriverProcess {
  const argv = [process.execPath, bundle, JSON.stringify(side)]
  const child = lab.spawn(box, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('The process has no pipes.')
  const answers: ((line: string) => void)[] = []
  createInterface({ input: stdout }).on('line', (line) => answers.shift()?.(line))
  return {
    async call(request) {
      const answer = new Promise<string>((resolve) => answers.push(resolve))
      stdin.write(`${JSON.stringify(request, preserve)}\n`)
      const message = JSON.parse(await answer) as { readonly answer?: unknown; readonly fault?: string }
      if (message.fault !== undefined) throw new Error(message.fault)
      return message.answer
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
