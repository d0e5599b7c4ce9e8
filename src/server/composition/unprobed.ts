import type { Unprobed } from '../ops/health.ts'
import type { Signer, SignerFault } from '../ports/signer.ts'

/** What the server depends on and no probe asks: a signing service (S1 Degradation 1). */
export function unprobedOf({ signer }: { readonly signer: Pick<Signer, 'status'> }): readonly Unprobed[] {
  const { status } = signer
  if (status === undefined) return []
  const service: Unprobed = {
    name: 'signer',
    meanwhile:
      'No session is issued, and events wait in order until they can be signed; none is lost. Everything else works, and what was signed before stays good.',
    lastCall() {
      const { isReachable, since, fault = 'unreachable' } = status()
      if (isReachable === undefined || since === undefined) return undefined
      return { since, fault: isReachable ? undefined : (SENTENCES[fault] ?? 'it does not answer') }
    },
  }
  return [service]
}

/** Faults that its operator has to end; the others end by themselves. */
const SENTENCES: Readonly<Partial<Record<SignerFault, string>>> = {
  sealed: 'it is sealed: unseal it',
  full: 'it has no space left',
  overloaded: 'it has more to do than it can finish in time',
  refused: 'it does not accept the login of this server',
  broken: 'it does not answer as a Transit engine does: look at its URL',
  key: 'its key cannot be used as it is; the log has the reason',
  signature: 'it gave a wrong signature',
  moved: 'this deployment signs with another signer',
}
