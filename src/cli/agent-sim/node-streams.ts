import { requestOf, type Caller } from '../../client/client.ts'
import type { FollowOptions } from '../../client/event-stream.ts'
import { createPublishedKeys } from '../../client/published-keys.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'
import { createEnvelopeVerifier, type EnvelopeVerifier } from '../../shared/events/verifier.ts'
import { createSignatureVerifier } from '../commands/events/verify-signature.ts'
import type { NodeIdentity } from './state-directory.ts'

/** What agents need to hold the event streams of their nodes. */
export interface NodeStreams {
  /** Asks for a node's stream with its own credential, as it is at that moment. */
  connect(identityNow: () => NodeIdentity): FollowOptions['connect']
  /** One list of published keys for all of them. */
  readonly verify: EnvelopeVerifier
}

/** Makes them over a caller. */
export function createNodeStreams(caller: Caller, manifest: Manifest): NodeStreams {
  const operation = manifest.operations['GetNodeEvents']
  if (operation === undefined) throw new Error('the contract has no GetNodeEvents')
  const findKey = createPublishedKeys({ caller, manifest })
  return {
    connect(identityNow) {
      const request = requestOf(operation, { id: identityNow().node_id })
      return async (headers, signal) => {
        const { nsk } = identityNow()
        const answer = await caller.open({ ...request, headers }, { operation, token: nsk, signal })
        // The key was replaced while the question was on its way.
        if (answer.status !== 401 || identityNow().nsk === nsk) return answer
        answer.body.destroy()
        return caller.open({ ...request, headers }, { operation, token: identityNow().nsk, signal })
      }
    },
    verify: createEnvelopeVerifier({ findKey, verify: createSignatureVerifier() }),
  }
}
