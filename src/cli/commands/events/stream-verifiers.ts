import type { Session } from '../../session/session.ts'
import type { StreamVerifier } from './frame-check.ts'

/** Verifies the stream of a node by the keys that the server publishes. */
export async function openNodeVerifier(session: Session, nodeId: string): Promise<StreamVerifier> {
  const [{ createEnvelopeVerifier }, { createFrameVerifier }, deps] = await Promise.all([
    import('../../../shared/events/verifier.ts'),
    import('../../../shared/events/frame-verifier.ts'),
    publishedKeys(session),
  ])
  return createFrameVerifier({ verify: createEnvelopeVerifier(deps), nodeId })
}

/** Verifies the stream of a Domain by the keys that the server publishes. */
export async function openDomainVerifier(session: Session, domainId: string): Promise<StreamVerifier> {
  const [{ createDomainFrameVerifier }, deps] = await Promise.all([
    import('../../../shared/events/domain-verifier.ts'),
    publishedKeys(session),
  ])
  return { connected: () => undefined, verify: createDomainFrameVerifier({ ...deps, domainId }) }
}

async function publishedKeys(session: Session) {
  const [{ createPublishedKeys }, { createSignatureVerifier }, caller] = await Promise.all([
    import('../../../client/published-keys.ts'),
    import('../../../client/verify-signature.ts'),
    session.caller(),
  ])
  const findKey = createPublishedKeys({ caller, manifest: session.manifest() })
  return { findKey, verify: createSignatureVerifier() }
}
