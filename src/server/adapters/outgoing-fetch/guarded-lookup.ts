import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { OutgoingFetchError } from '../../ports/outgoing-fetch.ts'

/** Resolves a name to all of its addresses. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>

/**
 * The name lookup of a connection: the connection uses its result, so that a name which resolves differently
 * between check and use (DNS rebinding) gains nothing. A name without an allowed address fails.
 */
export function guardedLookup(resolve: ResolveName, isTaken: (address: string) => boolean): LookupFunction {
  const find = callbackify((hostname: string) => takenAddresses({ resolve, isTaken }, hostname))
  return (hostname, options, callback) => {
    find(hostname, (error, addresses) => {
      if (error !== null) callback(error, '')
      else if (options.all === true) callback(null, [...addresses])
      else callback(null, addresses[0].address, addresses[0].family)
    })
  }
}

interface Guard {
  readonly resolve: ResolveName
  readonly isTaken: (address: string) => boolean
}

async function takenAddresses(
  { resolve, isTaken }: Guard,
  hostname: string,
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = (await resolve(hostname)).filter(({ address }) => isTaken(address))
  if (first === undefined) throw forbidden(hostname)
  return [first, ...others]
}

/** The error does not contain the addresses: they would reveal a network to anyone who may configure a host. */
export function forbidden(host: string): OutgoingFetchError {
  return new OutgoingFetchError('forbidden_address', `${host} is not at a public address`)
}
