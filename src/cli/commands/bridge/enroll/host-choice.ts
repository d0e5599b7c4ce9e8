import { isIP } from 'node:net'
import { CliError, usageError } from '../../../errors/cli-error.ts'
import { EXIT } from '../../../errors/exit-code.ts'
import type { Provider, UserAccessPeers } from '../answers.ts'
import { endpointText } from '../endpoint-text.ts'

/** Where a device connects to. */
export interface HostChoice {
  /** Public key of the provider, in base64. */
  readonly key: string
  /** `host:port`. */
  readonly endpoint: string
}

/** A host name, or an address; an IPv6 address is in brackets where a port follows. */
const ENDPOINT = /^(?:\[([\da-fA-F:.]+)\]|([A-Za-z\d](?:[A-Za-z\d.-]{0,251}[A-Za-z\d])?))(?::([1-9]\d{0,4}))?$/
const KEY = /^[A-Za-z0-9+/]{43}=$/

/** Reads `--endpoint`: `vpn.example.org`, `203.0.113.7:51830`, `[2001:db8::7]:51830`. Throws a usage error. */
export function endpointOf(text: string, usualPort: number): string {
  if (isIP(text) === 6) return endpointText(text, usualPort)
  const [, bracketed, name, port] = ENDPOINT.exec(text) ?? []
  const host = bracketed ?? name
  const isAddress = bracketed === undefined || isIP(bracketed) === 6
  if (host !== undefined && isAddress && Number(port ?? usualPort) <= 65_535)
    return endpointText(host, Number(port ?? usualPort))
  throw usageError(
    `--endpoint needs HOST or HOST:PORT, not "${text}"`,
    'For example: --endpoint vpn.example.org, or --endpoint [2001:db8::7]:51830',
  )
}

/**
 * The host with the lowest id of those that devices can connect to.
 *
 * @throws CliError where the bridge has no host, where none has reported its key yet, and where no address is known.
 */
export function chooseHost(
  { hosts }: UserAccessPeers,
  { slug, listen_port: port }: Provider,
  { endpoint, bridge }: { readonly endpoint: string | undefined; readonly bridge: string },
): HostChoice {
  const status = `ctl bridge status ${bridge}`
  if (hosts.length === 0)
    throw impossible('bridge_without_hosts', `the bridge ${bridge} has no host to connect to`, [
      `Give it one: ctl resources update ${bridge} --host-node NODE`,
    ])
  const running = hosts.flatMap(({ public_key: key, address }) => (isKey(key) ? [{ key, address }] : []))
  const [first] = running
  if (first === undefined)
    throw impossible('host_key_unknown', `no host of the bridge has reported the public key of ${slug} yet`, [
      `See what keeps the hosts from running it: ${status}`,
    ])
  if (endpoint !== undefined) return { key: first.key, endpoint }
  const reached = running.find(({ address }) => address !== null && isIP(address) !== 0)
  if (reached?.address === undefined || reached.address === null)
    throw impossible('host_address_unknown', 'no address is known at which a host of the bridge is reached', [
      'Say it with --endpoint HOST, or HOST:PORT.',
    ])
  return { key: reached.key, endpoint: endpointText(reached.address, port) }
}

function isKey(key: string | null): key is string {
  return key !== null && KEY.test(key)
}

function impossible(code: string, message: string, hints: readonly string[]): CliError {
  return new CliError(message, { exitCode: EXIT.conflict, code, hints })
}
