import { operationOf, refusalOf, requestOf, type CallInput, type Caller } from '../../client.ts'
import { foreignServer, isAnswerOf } from '../../foreign-server.ts'
import type { HttpAnswer } from '../../transport.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import type { Received } from '../../../shared/contract/operation-types.ts'

/** The credentials of a node's call. */
export interface NodeCall {
  readonly nodeId: string
  readonly nsk: string
}

export interface PullCall extends NodeCall {
  /** `ETag` of the node's present state. */
  readonly etag: string | undefined
}

/** A pulled state, not parsed. */
export interface PulledBytes {
  readonly bytes: Buffer
  readonly etag: string | undefined
  /** The server answered from its cache, so the state may be outdated. */
  readonly isDegraded: boolean
}

/** A sealed key of an edge. */
export interface SealedEdgeKey {
  readonly envelope: Uint8Array
  /** Id of the node secret key under which it is sealed, from the server. */
  readonly kid: string
  readonly epoch: string
  /** The node secret key of the call. */
  readonly nsk: string
}

/** Fetches the keys of several edges. */
export interface EdgeKeysCall extends NodeCall {
  /** 1 to 256 ids, each once. */
  readonly peerIds: readonly string[]
}

/** A sealed key of the edge with that peer. */
export interface SealedPeerKey extends SealedEdgeKey {
  readonly peerId: string
}

/** A sealed secret of a bridge. */
export interface SealedSecret {
  readonly envelope: Uint8Array
  /** Id of the node secret key under which it is sealed, from the server. */
  readonly kid: string
  /** 0 if the server gave none. */
  readonly version: number
  /** The node secret key of the call. */
  readonly nsk: string
}

/** Calls whose headers or raw bytes an agent needs. They throw `ProblemAnswer` and `TransportFailure`. */
export interface NodeWire {
  /** Undefined if the state still matches the `ETag`. */
  pull(call: PullCall): Promise<PulledBytes | undefined>
  fetchEdgeKey(call: NodeCall & { readonly peerId: string }): Promise<SealedEdgeKey>
  /** Fetches the keys of up to 256 edges at once, in the order of `peerIds`. Those that are no peers of the node are left out. */
  fetchEdgeKeys(call: EdgeKeysCall): Promise<readonly SealedPeerKey[]>
  fetchSecret(call: NodeCall & { readonly ref: string }): Promise<SealedSecret>
}

/** Makes the calls on top of an untyped caller. */
export function createNodeWire(caller: Caller, manifest: Manifest): NodeWire {
  async function send(
    id: 'GetNodeState' | 'GetNodePeerPSK' | 'GetNodeSecret',
    input: CallInput,
    { nsk, headers = {} }: { readonly nsk: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<HttpAnswer> {
    const operation = operationOf(manifest, id)
    const answer = await caller.send(requestOf(operation, input), { operation, token: nsk, headers, repeatable: true })
    if (answer.status >= 400) throw refusalOf(answer)
    if (!isAnswerOf(operation, answer)) throw foreignServer(answer)
    return answer
  }

  return {
    async pull({ nodeId, nsk, etag }) {
      const headers = etag === undefined ? {} : { 'if-none-match': etag }
      const answer = await send('GetNodeState', { id: nodeId }, { nsk, headers })
      if (answer.status === 304) return undefined
      const isDegraded = answer.headers['x-service-degraded'] !== undefined
      return { bytes: answer.body, etag: answer.headers['etag'], isDegraded }
    },
    async fetchEdgeKey({ nodeId, nsk, peerId }) {
      const { body, headers } = await send('GetNodePeerPSK', { id: nodeId, peer_node_id: peerId }, { nsk })
      const sealedWith = { kid: headers['x-service-psk-kid'] ?? '', epoch: headers['x-service-psk-epoch'] ?? '' }
      return { envelope: new Uint8Array(body), ...sealedWith, nsk }
    },
    async fetchEdgeKeys({ nodeId, nsk, peerIds }) {
      const input = { id: nodeId, body: { peer_node_ids: [...peerIds] } }
      const { value } = await caller.call(operationOf(manifest, 'PostNodePeerPSKs'), input, { token: nsk })
      // Only its lists and objects were compared with the contract.
      const { kid, envelopes } = value as Received<(typeof meshKeys)['operations']['PostNodePeerPSKs']>
      const asked = new Set(peerIds)
      return envelopes
        .filter(({ peer_node_id: peerId }) => asked.has(peerId))
        .map(({ peer_node_id: peerId, epoch, envelope }) => {
          return { peerId, envelope: bytesOf(envelope), kid: textOf(kid), epoch: textOf(epoch), nsk }
        })
    },
    async fetchSecret({ nodeId, nsk, ref }) {
      const { body, headers } = await send('GetNodeSecret', { id: nodeId, ref }, { nsk })
      const version = Number(headers['x-service-secret-version'] ?? 0)
      return { envelope: new Uint8Array(body), kid: headers['x-service-psk-kid'] ?? '', version, nsk }
    },
  }
}

/** A text of an answer; empty if the server sent something else. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function bytesOf(base64: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(textOf(base64), 'base64'))
}
