import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { isWildcard } from '../../../../shared/bridges/sni-host.ts'

/** Where connections for a name go. */
export interface Route {
  /** An SNI host of a checked rule. */
  readonly host: string
  /** The backend: `<bridge id>:<slug>`. */
  readonly backend: string
  /** `address:port` in the mesh; undefined: TLS ends on this machine. */
  readonly target: { readonly address: string; readonly port: number } | undefined
}

/** What HAProxy is configured with. */
export interface HaproxyFacts {
  /** Arguments of `bind`. */
  readonly bind: string
  /** Connections to it are refused: ingress is for what is outside of the mesh. */
  readonly meshAddress: string
  /** User and group of the process that reads from the internet; undefined: that of the agent. */
  readonly user: string | undefined
  /** The socket of what ends TLS. */
  readonly tlsSocket: string
  /** Exact names before wildcards. */
  readonly routes: readonly Route[]
}

/** Name of the backend that ends TLS. */
export const TLS_BACKEND = 'acme'
const CONNECTIONS_MAX = 8_192
const CONNECTIONS_OF_ONE_ADDRESS_MAX = 1_024

/**
 * The configuration of HAProxy. It has a digest of itself as its description, by which a running HAProxy is known to have it.
 *
 * @throws Error for a text that is no plain token: nothing is ever escaped.
 */
export function haproxyConfig(facts: HaproxyFacts): { readonly text: string; readonly digest: string } {
  const body = bodyOf(facts)
  const digest = createHash('sha256').update(body).digest('hex')
  return {
    text: `# Written by the agent of the ctl mesh, which replaces it.\nglobal\n  description ${digest}\n${body}`,
    digest,
  }
}

function bodyOf({ bind, meshAddress, user, tlsSocket, routes }: HaproxyFacts): string {
  return `  maxconn ${CONNECTIONS_MAX}
  no strict-limits
  hard-stop-after 24h
  mworker-max-reloads 32
${user === undefined ? '' : `  user ${token(user)}\n  group ${token(user)}\n`}
defaults
  mode tcp
  timeout connect 10s
  timeout client 1h
  timeout server 1h
  timeout client-fin 30s
  timeout server-fin 30s
  option clitcpka
  option srvtcpka

frontend ingress
  bind ${words(bind)}
  stick-table type ipv6 size 64k expire 10m store conn_cur
  tcp-request connection reject if { dst ${addressOf(meshAddress)} }
  tcp-request connection track-sc0 src
  tcp-request connection reject if { sc0_conn_cur gt ${CONNECTIONS_OF_ONE_ADDRESS_MAX} }
  tcp-request inspect-delay 5s
  tcp-request content accept if { req.ssl_hello_type 1 }
  tcp-request content reject
${routes.map((route) => `  use_backend ${backendOf(route)} if { ${match(route)} }\n`).join('')}${backends(routes, tlsSocket)}`
}

function backendOf({ backend, target }: Route): string {
  return target === undefined ? TLS_BACKEND : token(backend)
}

/** A wildcard stands for the first label alone (RFC 6125 §6.4.3). */
function match({ host }: Route): string {
  if (!isWildcard(host)) return `req.ssl_sni,lower -m str ${token(host)}`
  return `req.ssl_sni,lower,field(2,.,0) -m str ${token(host.slice(2))}`
}

function backends(routes: readonly Route[], tlsSocket: string): string {
  const passed = routes.flatMap(({ backend, target }) =>
    target === undefined ? [] : [serverOf(backend, `${addressOf(target.address)}:${target.port}`)],
  )
  const hasTls = routes.some(({ target }) => target === undefined)
  return [...passed, ...(hasTls ? [serverOf(TLS_BACKEND, `unix@${token(tlsSocket)}`)] : [])].join('')
}

function serverOf(backend: string, address: string): string {
  return `\nbackend ${token(backend)}\n  server target ${address}\n`
}

/** Backends of a configuration and the address of each, by name. */
export function backendsIn(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/^backend (\S+)\n {2}server target (\S+)$/gm)
  return new Map([...found].map(([, backend = '', address = '']) => [backend, address]))
}

function token(text: string): string {
  if (/^[A-Za-z0-9_.:/-]+$/.test(text)) return text
  throw new Error('a text for the configuration of HAProxy is no plain token')
}

function words(text: string): string {
  return text.split(' ').map(token).join(' ')
}

function addressOf(text: string): string {
  if (isIP(text) !== 0 && !text.includes('%')) return text
  throw new Error('an address for the configuration of HAProxy is none')
}
