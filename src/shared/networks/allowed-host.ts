const HTTPS_PORT = '443'

/** Whether a list of hosts, each `host` or `host:port` in lower case, names the host of an https address. */
export function isAllowedHost({ hostname, port }: URL, allowed: ReadonlySet<string>): boolean {
  return allowed.has(hostname) || allowed.has(`${hostname}:${port || HTTPS_PORT}`)
}
