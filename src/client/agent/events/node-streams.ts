import { requestOf, type Caller } from '../../client.ts'
import type { FollowOptions } from '../../event-stream.ts'
import { createPublishedKeys } from '../../published-keys.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { createEnvelopeVerifier, type EnvelopeVerifier, type FindKey } from '../../../shared/events/verifier.ts'
import { createSignatureVerifier } from '../../verify-signature.ts'
import { secretKeyOf } from '../keys/secret-key.ts'
import type { Member } from '../member.ts'

/** Opens and verifies the event streams of a fleet. */
export interface NodeStreams {
  /** Makes the function that requests a node's stream with the node's present key. */
  connect(node: Keyed): FollowOptions['connect']
  /** Verifies envelopes with one list of published keys for all nodes. */
  readonly verify: EnvelopeVerifier
  /** Finds a key of that list. Rejects where the server has to be asked and does not answer. */
  readonly findKey: FindKey
}

/** The parts of a member that have its keys. */
type Keyed = Pick<Member, 'identity' | 'isSavingKey'>

/** Makes the streams on top of an untyped caller. @throws Error if the contract has no `GetNodeEvents`. */
export function createNodeStreams(caller: Caller, manifest: Manifest): NodeStreams {
  const operation = manifest.operations['GetNodeEvents']
  if (operation === undefined) throw new Error('the contract has no GetNodeEvents')
  const findKey = createPublishedKeys({ caller, manifest })
  return {
    connect(node) {
      const request = requestOf(operation, { id: node.identity.node_id })
      return async (headers, signal) => {
        const nsk = secretKeyOf(node)
        const answer = await caller.open({ ...request, headers }, { operation, token: nsk, signal })
        const other = answer.status === 401 ? otherKeyOf(node, nsk) : undefined
        if (other === undefined) return answer
        answer.body.destroy()
        return caller.open({ ...request, headers }, { operation, token: other, signal })
      }
    },
    verify: createEnvelopeVerifier({ findKey, verify: createSignatureVerifier() }),
    findKey,
  }
}

/** The key with which a refused request is made once more: the key was replaced during it, or the server may not know the next one. */
function otherKeyOf(node: Keyed, refused: string): string | undefined {
  const present = secretKeyOf(node)
  if (present !== refused) return present
  return node.identity.nsk === refused ? undefined : node.identity.nsk
}
