import type { AcmeAccount } from './acme-account.ts'

/** A site whose TLS ends on this machine. */
export interface Site {
  readonly host: string
  readonly account: AcmeAccount
  /** Undefined: the node is no peer now. */
  readonly target: { readonly address: string; readonly port: number } | undefined
}

/** Where Caddy has its sockets and its certificates. */
export interface CaddyPlace {
  readonly adminSocket: string
  readonly tlsSocket: string
  readonly certificates: string
}

/** What a site is made of. */
export interface CaddyFacts {
  readonly place: CaddyPlace
  readonly sites: readonly Site[]
  /** The port on which HAProxy listens: Caddy does not open it for challenges, since it is taken. */
  readonly listenPort: number
}

/** The name by which the agent calls Caddy on its socket: Caddy refuses any other one. */
export const ADMIN_HOST = 'ctl-agent'

/** The configuration with which Caddy starts: it only takes another one. It has no secret and may be a file. */
export function firstCaddyConfig({ adminSocket }: CaddyPlace): string {
  return JSON.stringify({ admin: admin(adminSocket), logging: LOGGING })
}

/** The whole configuration. It has the keys of accounts, and goes over the socket alone. */
export function caddyConfig({ place, sites, listenPort }: CaddyFacts): string {
  return JSON.stringify({
    admin: admin(place.adminSocket),
    logging: LOGGING,
    storage: { module: 'file_system', root: place.certificates },
    apps: { http: { grace_period: '5m', servers: { ingress: serverOf(place, sites) } }, tls: tlsOf(sites, listenPort) },
  })
}

const LOGGING = { logs: { default: { level: 'WARN' } } }

function admin(socket: string) {
  return { listen: `unix/${socket}`, config: { persist: false }, origins: [ADMIN_HOST] }
}

function serverOf({ tlsSocket }: CaddyPlace, sites: readonly Site[]) {
  return {
    listen: [`unix/${tlsSocket}`],
    protocols: ['h1', 'h2'],
    // What it would do is said below: there is neither port 80 nor a redirect.
    automatic_https: { disable: true },
    strict_sni_host: true,
    read_header_timeout: '10s',
    idle_timeout: '5m',
    tls_connection_policies: [{}],
    routes: sites.map(routeOf),
  }
}

function routeOf({ host, target }: Site) {
  const handler =
    target === undefined
      ? { handler: 'static_response', status_code: '502' }
      : { handler: 'reverse_proxy', upstreams: [{ dial: dialOf(target) }], headers: HEADERS }
  return { match: [{ host: [host] }], handle: [handler], terminal: true }
}

/** The address of the browser is that of HAProxy here, so the node gets none rather than what the browser invents. */
const HEADERS = {
  request: {
    set: { 'X-Forwarded-Proto': ['https'], 'X-Forwarded-Host': ['{http.request.host}'] },
    delete: ['X-Forwarded-For', 'Forwarded'],
  },
}

function dialOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

function tlsOf(sites: readonly Site[], listenPort: number) {
  // Equal accounts make one policy.
  const accounts = new Map(sites.map(({ account }) => [JSON.stringify(account), account]))
  return {
    certificates: { automate: sites.map(({ host }) => host) },
    automation: {
      policies: [...accounts].map(([key, account]) => ({
        subjects: sites.filter((site) => JSON.stringify(site.account) === key).map(({ host }) => host),
        issuers: [issuerOf(account, listenPort)],
      })),
    },
  }
}

/** The challenge is TLS-ALPN-01, which comes through HAProxy as any connection for that name (RFC 8737). */
function issuerOf({ directoryUrl, binding }: AcmeAccount, listenPort: number) {
  return {
    module: 'acme',
    ca: directoryUrl,
    challenges: { http: { disabled: true }, 'tls-alpn': { alternate_port: listenPort } },
    ...(binding !== undefined && { external_account: { key_id: binding.keyId, mac_key: binding.hmacKey } }),
  }
}
