import { parseNsk } from '../../../src/shared/credential-formats.ts'
import { openEdgeEnvelope } from '../../../src/shared/mesh/edge-envelope.ts'
import type { Answer } from '../server/control-plane.ts'
import { freshPublicKey, startFleet, type Enrolled, type Fleet } from './fleet.ts'
import type { TestStore } from '../datastores/stores.ts'

/** A node as it presents itself. */
export type Keyed = Pick<Enrolled, 'node_id' | 'nsk'>

/** The key of an edge as one end has it. */
export interface EdgeKey {
  readonly kid: string
  readonly epoch: string
  readonly keyHex: string
}

/** A fleet whose nodes have edges. */
export interface KeyedFleet extends Fleet {
  /** Fetches an envelope. The body of a success is the envelope, as bytes. */
  fetchPsk(node: Keyed, peerId: string, id?: string): Promise<Answer & { readonly bytes: Uint8Array }>
  /** Fetches an envelope and opens it as an agent would. */
  edgeKey(node: Keyed, peerId: string): Promise<EdgeKey>
  /** Asks for a rotation as the platform's administrator. */
  rotate(nodeId: string): Promise<Answer>
  /** Completes a rotation, with a fresh public key unless one is given. */
  complete(node: Keyed, publicKey?: string): Promise<Answer>
}

export async function startKeyedFleet(store: TestStore): Promise<KeyedFleet> {
  const fleet = await startFleet(store, { surfaces: ['meshKeys'] })

  const fetchPsk: KeyedFleet['fetchPsk'] = ({ node_id, nsk }, peerId, id = node_id) =>
    exchange(`${fleet.url}/v1/nodes/${id}/peers/${peerId}/psk`, nsk)

  return {
    ...fleet,
    fetchPsk,
    async edgeKey(node, peerId) {
      const { status, headers, body, bytes } = await fetchPsk(node, peerId)
      if (status !== 200) throw new Error(`no envelope: ${status} ${JSON.stringify(body)}`)
      const [kid, epoch] = [headers.get('x-service-psk-kid') ?? '', headers.get('x-service-psk-epoch') ?? '']
      const key = parseNsk(node.nsk)?.key ?? new Uint8Array()
      const opened = openEdgeEnvelope(bytes, key, { nodeId: node.node_id, peerNodeId: peerId, epoch })
      if (!opened.ok) throw new Error(`the envelope does not open: ${opened.fault}`)
      return { kid, epoch, keyHex: Buffer.from(opened.edgeKey).toString('hex') }
    },
    rotate: (nodeId) => fleet.call(fleet.root, `POST /v1/nodes/${nodeId}/keys/rotate`),
    complete: (node, publicKey = freshPublicKey()) =>
      fleet.call(node.nsk, 'POST /v1/keys/rotate', { public_key: publicKey }),
  }
}

async function exchange(url: string, nsk: string): Promise<Answer & { readonly bytes: Uint8Array }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${nsk}` } })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const isProblem = response.headers.get('content-type')?.includes('json') === true
  const body = isProblem ? JSON.parse(new TextDecoder().decode(bytes)) : {}
  return { status: response.status, headers: response.headers, body, bytes }
}
