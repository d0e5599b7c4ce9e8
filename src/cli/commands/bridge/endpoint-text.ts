import { usageError } from '../../errors/cli-error.ts'

/** A host or a node, and a port. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

const ENDPOINT = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+)):(\d{1,9})$/

/** Reads `vpn.example.org:51820`, `[2001:db8::1]:51820`. Throws a usage error; which ports there are is the server's to judge. */
export function remoteFrom(text: string): Endpoint {
  const found = read(text)
  if (found !== undefined) return found
  throw usageError(`--remote needs HOST:PORT, not "${text}"`, 'An IPv6 address is in brackets: [2001:db8::1]:51820')
}

/** Reads `web-1:8080`: a node by name or id, and a port. Throws a usage error. */
export function targetFrom(text: string): Endpoint {
  const found = read(text)
  if (found !== undefined) return found
  throw usageError(`--target needs NODE:PORT, not "${text}"`, 'For example: --target web-1:8080')
}

function read(text: string): Endpoint | undefined {
  const [, address, name, port] = ENDPOINT.exec(text.trim()) ?? []
  const host = address ?? name
  return host === undefined ? undefined : { host, port: Number(port) }
}

/** `vpn.example.org:51820`, `[2001:db8::1]:51820`. */
export function endpointText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
