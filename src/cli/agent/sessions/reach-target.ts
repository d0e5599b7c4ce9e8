import { connect, isIP, type Socket } from 'node:net'
import type { AddressLookup } from './address-lookup.ts'
import type { SessionTarget, TargetRule } from './session-target.ts'

/** A connection to a target, or why there is none. */
export type Reached =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly fault: ReachFault }

/** `target_refused`: the node does not let sessions go there; `target_unreachable`: it did not answer, or has no address. */
export type ReachFault = 'target_refused' | 'target_unreachable'

/** What a target is reached by. */
export interface ReachTerms {
  readonly isAllowed: TargetRule
  readonly resolve: AddressLookup
}

/** How long a name and the connection to its address may take together. */
export const REACH_MS_MAX = 10_000

/**
 * Connects to a target. A name is resolved once: each of its addresses has to be allowed, and the first one is connected to, so that
 * a name cannot change its addresses in between.
 */
export async function reachTarget({ host, port }: SessionTarget, { isAllowed, resolve }: ReachTerms): Promise<Reached> {
  const deadlineMs = Date.now() + REACH_MS_MAX
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (addresses.some((address) => !isAllowed(address))) return { ok: false, fault: 'target_refused' }
  const [address] = addresses
  if (address === undefined) return { ok: false, fault: 'target_unreachable' }
  const socket = await connected({ host: address, port }, Math.max(1, deadlineMs - Date.now()))
  return socket === undefined ? { ok: false, fault: 'target_unreachable' } : { ok: true, socket }
}

function connected({ host, port }: SessionTarget, timeoutMs: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
    const fail = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(undefined)
    }
    const timer = setTimeout(fail, timeoutMs)
    socket.once('error', fail)
    socket.once('connect', () => {
      clearTimeout(timer)
      // An error from here on has a listener of the relay.
      socket.off('error', fail)
      resolve(socket)
    })
  })
}
