import { parseAddress } from '../networks/cidr.ts'

/** Underscores are no part of host names, but names in private zones have them. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i
const HOST_MAX = 253
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/i

/**
 * Whether the text names the other end of a tunnel: an IPv4 address, an IPv6 address without brackets and zone, or a host
 * name of ASCII labels without a trailing dot. One label suffices. The name is not looked up.
 */
export function isRemoteHost(text: string): boolean {
  if (text.length > HOST_MAX) return false
  if (parseAddress(text) !== undefined) return true
  const labels = text.split('.')
  return labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1) ?? '')
}
