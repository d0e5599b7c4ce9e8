/** `host:port` as the wire has it, an IPv6 host in brackets; empty where there is none. */
export function formatEndpoint(host: string | null, port: number | null): string {
  if (host === null || port === null) return ''
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
