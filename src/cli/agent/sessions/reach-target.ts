import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
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
  /** The addresses of a name; those of this machine's resolver when absent. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

const REACH_MS_MAX = 10_000

/**
 * Connects to a target. A name is resolved once: each of its addresses has to be allowed, and the first one is connected to, so that
 * a name cannot change its addresses in between.
 */
export async function reachTarget(
  { host, port }: SessionTarget,
  { isAllowed, resolve = addressesOf }: ReachTerms,
): Promise<Reached> {
  const deadlineMs = Date.now() + REACH_MS_MAX
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (addresses.some((address) => !isAllowed(address))) return { ok: false, fault: 'target_refused' }
  const [address] = addresses
  if (address === undefined) return { ok: false, fault: 'target_unreachable' }
  const socket = await connected({ host: address, port }, Math.max(1, deadlineMs - Date.now()))
  return socket === undefined ? { ok: false, fault: 'target_unreachable' } : { ok: true, socket }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  let late: NodeJS.Timeout | undefined
  const timeout = new Promise<readonly string[]>((resolve) => {
    late = setTimeout(() => resolve([]), REACH_MS_MAX)
  })
  // A name without an address and a resolver without an answer are the same to the caller.
  const found = lookup(host, { all: true }).then(
    (answers) => answers.map(({ address }) => address),
    () => [],
  )
  try {
    return await Promise.race([found, timeout])
  } finally {
    clearTimeout(late)
  }
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
