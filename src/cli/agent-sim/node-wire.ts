import { refusalOf, requestOf, type CallInput, type Caller } from '../../client/client.ts'
import { foreignServer, isAnswerOf } from '../../client/foreign-server.ts'
import type { HttpAnswer } from '../../client/transport.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'

/** A call of a node in its own name. */
export interface NodeCall {
  readonly nodeId: string
  readonly nsk: string
}

export interface PullCall extends NodeCall {
  /** Of the state that the node has. */
  readonly etag: string | undefined
}

/** A pulled state as it came. */
export interface PulledBytes {
  readonly bytes: Buffer
  readonly etag: string | undefined
  /** It was answered from memory, and may be older than what is known. */
  readonly isDegraded: boolean
}

/** A sealed key of an edge. */
export interface SealedEdgeKey {
  readonly envelope: Uint8Array
  /** The node secret key under which it is sealed, as the server says. */
  readonly kid: string
  readonly epoch: string
  /** The one that called. */
  readonly nsk: string
}

/** The calls of which an agent reads more than the JSON of the answer. */
export interface NodeWire {
  /** Undefined where the state is still the one of that tag. */
  pull(call: PullCall): Promise<PulledBytes | undefined>
  fetchEdgeKey(call: NodeCall & { readonly peerId: string }): Promise<SealedEdgeKey>
}

/** Makes them over a caller. They throw `ProblemAnswer` and `TransportFailure`. */
export function createNodeWire(caller: Caller, manifest: Manifest): NodeWire {
  async function ask(
    id: 'GetNodeState' | 'GetNodePeerPSK',
    input: CallInput,
    { nsk, headers = {} }: { readonly nsk: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<HttpAnswer> {
    const operation = manifest.operations[id]
    if (operation === undefined) throw new Error(`the contract has no ${id}`)
    const answer = await caller.send(requestOf(operation, input), { operation, token: nsk, headers, repeatable: true })
    if (answer.status >= 400) throw refusalOf(answer)
    if (!isAnswerOf(operation, answer)) throw foreignServer(answer)
    return answer
  }

  return {
    async pull({ nodeId, nsk, etag }) {
      const headers = etag === undefined ? {} : { 'if-none-match': etag }
      const answer = await ask('GetNodeState', { id: nodeId }, { nsk, headers })
      if (answer.status === 304) return undefined
      const isDegraded = answer.headers['x-service-degraded'] !== undefined
      return { bytes: answer.body, etag: answer.headers['etag'], isDegraded }
    },
    async fetchEdgeKey({ nodeId, nsk, peerId }) {
      const { body, headers } = await ask('GetNodePeerPSK', { id: nodeId, peer_node_id: peerId }, { nsk })
      const said = { kid: headers['x-service-psk-kid'] ?? '', epoch: headers['x-service-psk-epoch'] ?? '' }
      return { envelope: new Uint8Array(body), ...said, nsk }
    },
  }
}
