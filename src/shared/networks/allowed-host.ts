const HTTP_PORT = '80'
const HTTPS_PORT = '443'

/** Whether a list of hosts, each `host` or `host:port` in lower case, names the host of an http or https address. */
export function isAllowedHost({ protocol, hostname, port }: URL, allowed: ReadonlySet<string>): boolean {
  const own = port || (protocol === 'http:' ? HTTP_PORT : HTTPS_PORT)
  return allowed.has(hostname) || allowed.has(`${hostname}:${own}`)
}
