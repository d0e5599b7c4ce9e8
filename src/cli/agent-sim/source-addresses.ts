import { createServer, isIP, isIPv4 } from 'node:net'
import { usageError } from '../errors/cli-error.ts'
import { PLAN_MAX } from './plan.ts'

const FLAG = '--source-addresses'

/** The addresses that a flag names: addresses, and networks as `127.0.1.0/28`. @throws CliError for anything else, and for too many. */
export function sourceAddressesOf(named: readonly string[]): readonly string[] {
  const addresses = named.flatMap((text) => (isIP(text) === 0 ? addressesIn(text) : [text]))
  if (addresses.length <= PLAN_MAX.sourceAddresses) return addresses
  throw usageError(`${FLAG} takes at most ${PLAN_MAX.sourceAddresses} addresses`)
}

/** Prefixes of networks that are small enough, of which one has a first and a last address that hosts do not have. */
const PREFIX_MIN = 24
const PREFIX_WHOLE = 31

function addressesIn(text: string): readonly string[] {
  const [network = '', length = ''] = text.split('/')
  const prefix = Number(length)
  if (!isIPv4(network) || !/^\d{1,2}$/.test(length) || prefix < PREFIX_MIN || prefix > 32)
    throw usageError(`${FLAG} takes addresses and networks such as 127.0.0.2 or 127.0.1.0/28, not ${text}`)
  const bytes = network.split('.').map(Number)
  const size = 2 ** (32 - prefix)
  const first = Math.floor((bytes[3] ?? 0) / size) * size
  const all = Array.from({ length: size }, (_, index) => [...bytes.slice(0, 3), first + index].join('.'))
  return prefix < PREFIX_WHOLE ? all.slice(1, -1) : all
}

/** @throws CliError for the first address that this machine does not have. */
export async function assertLocal(addresses: readonly string[]): Promise<void> {
  for (const address of addresses)
    if (!(await isLocal(address))) throw usageError(`${FLAG}: this machine has no ${address}`)
}

function isLocal(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port: 0 }, () => server.close(() => resolve(true)))
  })
}

/** Returns the addresses in turn; undefined if there are none. */
export function createRotation(addresses: readonly string[]): () => string | undefined {
  let next = 0
  return () => {
    const address = addresses[next % addresses.length]
    next += 1
    return address
  }
}
