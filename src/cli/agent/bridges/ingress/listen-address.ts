import { createServer, isIP } from 'node:net'
import { once } from 'node:events'
import { agentError, reasonOf, systemCode } from '../../errors.ts'

/** Where ingress listens. */
export interface ListenAddress {
  /** Undefined: all addresses of the machine. */
  readonly host: string | undefined
  readonly port: number
}

/** TCP 443 of all addresses. */
export const DEFAULT_LISTEN = ':443'

const PORT_MAX = 65_535

/** Reads `address:port`, `[address]:port` or `:port`; undefined for anything else. */
export function readListenAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]*)):([1-9]\d{0,4})$/.exec(text) ?? []
  const [host, port] = [bracketed ?? plain ?? '', Number(digits)]
  if (digits === undefined || port > PORT_MAX) return undefined
  if (host === '') return { host: undefined, port }
  return isIP(host) === (bracketed === undefined ? 4 : 6) ? { host, port } : undefined
}

/** What `bind` of HAProxy gets: both families where the machine has both. */
export async function bindArguments({ host, port }: ListenAddress): Promise<string> {
  if (host !== undefined) return `${host}:${port}`
  return (await hasIpv6()) ? `:::${port} v4v6` : `0.0.0.0:${port}`
}

/** @throws CliError where another program has the port, or the address is none of this machine. */
export async function assertFree({ host, port }: ListenAddress): Promise<void> {
  const address = host ?? ((await hasIpv6()) ? '::' : '0.0.0.0')
  const code = await listenFault(address, port)
  if (code === undefined) return
  if (code === 'EADDRINUSE')
    throw agentError('port_in_use', `TCP port ${port} is in use by another program of this machine`, {
      hints: ['Stop it, or choose another port with --ingress-listen.'],
    })
  throw agentError('not_listening', `TCP port ${port} of ${address} cannot be opened: ${code}`, {
    hints: ['Choose another address with --ingress-listen.'],
  })
}

async function hasIpv6(): Promise<boolean> {
  return (await listenFault('::', 0)) === undefined
}

/** The code of the system; undefined where it can be listened on. */
async function listenFault(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    return systemCode(error) || reasonOf(error)
  }
  server.close()
  await once(server, 'close')
  return undefined
}
