import { usageError } from '../../errors/cli-error.ts'
import { isLoopback } from '../doctor/loopback.ts'

/** Where a forwarded port leads, and where it is on this machine. */
export interface TcpWish {
  /** The node, as it was typed. */
  readonly reference: string
  /** `host:port`, as the far agent reads it. */
  readonly target: string
  readonly local: LocalAddress
}

/** Port 0: any free one. */
export interface LocalAddress {
  readonly host: string
  readonly port: number
}

const PORT_MAX = 65_535
/** Lower ones need privileges to listen on. */
const PORT_FREE_MIN = 1_024
const NODE_AND_PORT = /^([^:]+)(?::(\d{1,5}))?$/
const LOCAL = /^(?:(localhost|\[::1\]|[\d.]+):)?(\d{1,5})$/

/** Reads `NODE:PORT`, `--target` and `--local`. @throws CliError for what cannot be. */
export function tcpWish(
  word: string,
  { target, local }: { readonly target?: string | undefined; readonly local?: string | undefined },
): TcpWish {
  const [, reference, portText] = NODE_AND_PORT.exec(word) ?? []
  if (reference === undefined) throw usageError(`${word} is not NODE:PORT`, 'Write it as web-1:5432')
  if ((portText === undefined) === (target === undefined))
    throw usageError('say which port of the node is meant', 'Write NODE:PORT, or NODE with --target HOST:PORT')
  const port = portText === undefined ? portOfTarget(target ?? '') : portOf(portText, word)
  return { reference, target: target ?? `127.0.0.1:${port}`, local: localAddress(local, port) }
}

function portOfTarget(target: string): number {
  const port = /^[^\s:]+:(\d{1,5})$|^\[[0-9a-f:.]+\]:(\d{1,5})$/i.exec(target)
  if (port === null)
    throw usageError(`--target ${target} is not HOST:PORT`, 'Write it as 10.0.0.7:5432 or [fd00::7]:5432')
  return portOf(port[1] ?? port[2] ?? '', `--target ${target}`)
}

/** Only this machine may use a session: others would do so in the name of who started the command. */
function localAddress(text: string | undefined, port: number): LocalAddress {
  if (text === undefined) return { host: '127.0.0.1', port: port < PORT_FREE_MIN ? 0 : port }
  const [, host = '127.0.0.1', own] = LOCAL.exec(text) ?? []
  if (own === undefined)
    throw usageError(`--local ${text} is not [ADDRESS:]PORT`, 'Write it as 15432, 127.0.0.1:15432 or [::1]:15432')
  if (!isLoopback(host))
    throw usageError(`--local ${text} is not of this machine alone`, 'Use an address of loopback, such as 127.0.0.1')
  const isZero = own === '0'
  return { host: host.replaceAll(/[[\]]/g, ''), port: isZero ? 0 : portOf(own, `--local ${text}`) }
}

function portOf(text: string, where: string): number {
  const port = Number(text)
  if (port >= 1 && port <= PORT_MAX) return port
  throw usageError(`${where} has no port between 1 and ${PORT_MAX}`)
}
