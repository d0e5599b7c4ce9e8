import { lookup } from 'node:dns/promises'
import { createPacedLimiter } from '../../../client/agent/calls/paced-limiter.ts'

/** The addresses of a name; none where it has none, or where they are not found in time. */
export type AddressLookup = (host: string) => Promise<readonly string[]>

/** A question to the system keeps one of the few threads busy that also read and write files, for a minute in the worst case. */
const AT_ONCE_MAX = 2

/** Makes a lookup that asks the system, about two names at once. It gives up after so many ms, also on a name whose turn has not come. */
export function createAddressLookup(timeoutMs: number, ask: AddressLookup = askSystem): AddressLookup {
  const limited = createPacedLimiter(() => Promise.resolve(), AT_ONCE_MAX)
  return (host) =>
    new Promise((resolve) => {
      const late = new AbortController()
      const timer = setTimeout(() => {
        late.abort()
        resolve([])
      }, timeoutMs)
      void limited(late.signal, async () => {
        const addresses = await ask(host)
        clearTimeout(timer)
        resolve(addresses)
      })
    })
}

async function askSystem(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    // A name without an address and a resolver without an answer are the same to the caller.
    return []
  }
}
