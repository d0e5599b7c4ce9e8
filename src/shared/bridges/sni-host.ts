const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const HOST_MAX = 253
const WILDCARD = '*.'
/** A last label that makes a name an IPv4 address: decimal, octal or hexadecimal (WHATWG URL, "ends in a number"). */
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/

/** Whether the name begins with a wildcard label. */
export function isWildcard(host: string): boolean {
  return host.startsWith(WILDCARD)
}

/** The name in lower case. Only ASCII letters change: other letters must not turn into them. */
export function lowerCased(host: string): string {
  return host.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/**
 * Whether the text is a server name for TLS (RFC 6066 §3): at least two lower-case A-labels, no address, no trailing dot, at
 * most 253 characters. The first label may be `*`, and then counts as none of the two. Whether an `xn--` label is valid
 * Punycode is not asked.
 */
export function isSniHost(host: string): boolean {
  const name = isWildcard(host) ? host.slice(WILDCARD.length) : host
  const labels = name.split('.')
  if (host.length > HOST_MAX || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return false
  return !NUMBER.test(labels.at(-1) ?? '')
}
