import { certificateEnd } from './certificates.ts'
import type { CheckedRule } from './checked-rule.ts'
import type { IngressPlace } from './ingress-place.ts'

/** A rule of ingress as the agent answers it. */
export interface IngressRow {
  readonly bridge_id: string
  readonly slug: string
  readonly host: string
  /** `passthrough`: the node has the certificate; `acme`: TLS ends on this machine. */
  readonly way: 'passthrough' | 'acme'
  readonly target_node_id: string
  /** `address:port` in the mesh; null where the node is no peer. */
  readonly target: string | null
  /** The end of the certificate; null where there is none. */
  readonly certificate_until: string | null
}

interface RowFacts {
  readonly place: IngressPlace
  readonly addressOf: (nodeId: string) => string | undefined
}

/** The rules with their targets and certificates. */
export function ingressRows(
  rules: readonly CheckedRule[],
  { place, addressOf }: RowFacts,
): Promise<readonly IngressRow[]> {
  return Promise.all(
    rules.map(async ({ bridgeId, slug, host, nodeId, port, account }): Promise<IngressRow> => {
      const address = addressOf(nodeId)
      return {
        bridge_id: bridgeId,
        slug,
        host,
        way: account === undefined ? 'passthrough' : 'acme',
        target_node_id: nodeId,
        target: address === undefined ? null : `${address}:${port}`,
        certificate_until: account === undefined ? null : ((await certificateEnd(place.certificates, host)) ?? null),
      }
    }),
  )
}
