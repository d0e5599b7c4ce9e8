import { lookup as resolveByDns } from 'node:dns/promises'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { forbidden, guardedLookup, type ResolveName } from './guarded-lookup.ts'
import { isPublicAddress } from './public-address.ts'

const byDns: ResolveName = (hostname) => resolveByDns(hostname, { all: true })

/** How sockets are opened: with any address, or only with public ones. TLS is verified in both. */
export interface Connectors {
  readonly anywhere: buildConnector.connector
  readonly publicOnly: buildConnector.connector
}

/**
 * Makes the connectors. The public one checks three times: an address in the URL, the addresses that a name resolves
 * to, and the peer of the socket before a byte of the request is written to it.
 *
 * @param publicNames resolves for the public one; as for the other where absent.
 */
export function createConnectors(
  timeoutMs: number,
  resolve: ResolveName = byDns,
  publicNames: ResolveName = resolve,
): Connectors {
  // NODE_TLS_REJECT_UNAUTHORIZED=0 must have no effect here: further authorities come only from NODE_EXTRA_CA_CERTS.
  const secure = { timeout: timeoutMs, rejectUnauthorized: true, maxCachedSessions: 0 }
  const connect = buildConnector({ ...secure, lookup: guardedLookup(publicNames, isPublicAddress) })
  return {
    anywhere: buildConnector({ ...secure, lookup: guardedLookup(resolve, () => true) }),
    publicOnly(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !isPublicAddress(host)) return callback(forbidden(host), null)
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        if (isPublicAddress(socket.remoteAddress ?? '')) return callback(null, socket)
        socket.destroy()
        callback(forbidden(host), null)
      })
    },
  }
}
