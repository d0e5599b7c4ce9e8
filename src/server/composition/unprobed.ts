import type { Unprobed } from '../ops/health.ts'
import type { Signer } from '../ports/signer.ts'

/** A signer that may say how the service behind it answered last. */
interface ObservedSigner extends Pick<Signer, 'keys'> {
  /** Absent where the keys are in the datastore, which has a probe. */
  readonly status?: () => {
    /** Undefined before the first call has ended. */
    readonly isReachable: boolean | undefined
    readonly since: Date | undefined
    readonly fault: string | undefined
  }
}

/** What the server depends on and no probe asks: a signing service (S1 Degradation 1). */
export function unprobedOf({ signer }: { readonly signer: ObservedSigner }): readonly Unprobed[] {
  const { status } = signer
  if (status === undefined) return []
  const service: Unprobed = {
    name: 'signer',
    meanwhile:
      'No session is issued, and events wait in order until they can be signed; none is lost. Everything else works, and what was signed before stays good.',
    lastCall() {
      const { isReachable, since, fault = '' } = status()
      if (isReachable === undefined || since === undefined) return undefined
      return { since, fault: isReachable ? undefined : (SENTENCES[fault] ?? 'it does not answer') }
    },
  }
  return [service]
}

/** Faults that its operator has to end; the others end by themselves. */
const SENTENCES: Readonly<Record<string, string>> = {
  sealed: 'it is sealed: unseal it',
  full: 'it has no space left',
  overloaded: 'it has more to do than it can finish in time',
  refused: 'it does not accept the login of this server',
  broken: 'it does not answer as a Transit engine does: look at its URL',
  key: 'its key cannot be used as it is; the log has the reason',
  signature: 'it gave a wrong signature',
  moved: 'this deployment signs with another signer',
}
