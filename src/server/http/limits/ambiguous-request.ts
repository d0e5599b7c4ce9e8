import type { IncomingMessage } from 'node:http'

/**
 * Whether the head of a request can be read in two ways, so that a proxy and this server might disagree about it: two
 * `Host` or `Authorization` fields (RFC 9112 §3.2, RFC 9110 §5.3), of which Node takes the first, or an encoding of the
 * body that is not `chunked` alone (RFC 9112 §6.1).
 */
export function isAmbiguous({ headers, rawHeaders }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding']
  return (encoding !== undefined && encoding.toLowerCase() !== 'chunked') || isRepeated(rawHeaders)
}

function isRepeated(rawHeaders: readonly string[]): boolean {
  let [hosts, authorizations] = [0, 0]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Lengths first: nearly every field differs in it.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1
  }
  return hosts > 1 || authorizations > 1
}
