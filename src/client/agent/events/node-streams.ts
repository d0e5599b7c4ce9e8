import { requestOf, type Caller } from '../../client.ts'
import type { FollowOptions } from '../../event-stream.ts'
import { createPublishedKeys } from '../../published-keys.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { createEnvelopeVerifier, type EnvelopeVerifier } from '../../../shared/events/verifier.ts'
import { createSignatureVerifier } from '../../verify-signature.ts'
import type { MemberIdentity } from '../member.ts'

/** Opens and verifies the event streams of a fleet. */
export interface NodeStreams {
  /** Makes the function that requests a node's stream with the node's present key. */
  connect(identityNow: () => MemberIdentity): FollowOptions['connect']
  /** Verifies envelopes with one list of published keys for all nodes. */
  readonly verify: EnvelopeVerifier
}

/** Makes the streams on top of an untyped caller. @throws Error if the contract has no `GetNodeEvents`. */
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
        // Retries once with the new key if the key was replaced during the request.
        if (answer.status !== 401 || identityNow().nsk === nsk) return answer
        answer.body.destroy()
        return caller.open({ ...request, headers }, { operation, token: identityNow().nsk, signal })
      }
    },
    verify: createEnvelopeVerifier({ findKey, verify: createSignatureVerifier() }),
  }
}
