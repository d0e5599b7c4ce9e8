const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const HOST_MAX = 253
const WILDCARD = '*.'

/** Whether the name begins with a wildcard label. */
export function isWildcard(host: string): boolean {
  return host.startsWith(WILDCARD)
}

/**
 * Whether the text is a server name for TLS (RFC 6066 §3): at least two lower-case A-labels, no address, no trailing dot.
 * The first label may be `*`.
 */
export function isSniHost(host: string): boolean {
  const name = isWildcard(host) ? host.slice(WILDCARD.length) : host
  const labels = name.split('.')
  if (host.length > HOST_MAX || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return false
  // No top-level domain is a number: such a name would be an IPv4 address (RFC 3696 §2).
  return !/^\d+$/.test(labels.at(-1) ?? '')
}
