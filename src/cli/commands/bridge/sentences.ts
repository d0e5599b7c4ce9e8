import type { IngressRule, Provider, Relay, Tunnel } from './answers.ts'
import { endpointText } from './endpoint-text.ts'

export function relayText(relay: Relay | null): string {
  if (relay === null) return 'none'
  return relay.enabled ? `enabled on port ${relay.listen_port}` : `disabled, keeps port ${relay.listen_port}`
}

export function peersText({ max_peers: count }: Provider): string {
  return count === 1 ? 'at most 1 peer' : `at most ${count} peers`
}

/** Who has the certificate of an ingress host. */
export function tlsText({ acme_account_ref: ref }: IngressRule): string {
  return ref === null ? 'TLS passed through' : `certificate by ${ref}`
}

export function remoteText({ remote_host: host, remote_port: port }: Tunnel): string {
  return endpointText(host, port)
}

/** Which side may begin connections. */
export function directionText({ routing_policy: policy }: Tunnel): string {
  return DIRECTIONS[policy] ?? policy
}

const DIRECTIONS: Readonly<Record<string, string>> = {
  bidirectional: 'both directions',
  ingress_only: 'inwards only',
  egress_only: 'outwards only',
}
