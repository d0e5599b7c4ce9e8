import { isLocalHost, parseEndpoint } from '../endpoints/endpoint-address.ts'

/**
 * Whether an endpoint that the server gives again replaces one of a live session: only another address of the same kind does, since
 * the peer has moved then. Another port of the same address is what other peers see through a NAT that picks a port for each
 * destination. Of a local and a public address, only the one that works may lead to the peer from here.
 */
export function replacesWorking(given: string, present: string | undefined): boolean {
  const [next, now] = [parseEndpoint(given), present === undefined ? undefined : parseEndpoint(present)]
  if (next === undefined || now === undefined) return true
  return next.host !== now.host && isLocalHost(next.host) === isLocalHost(now.host)
}
