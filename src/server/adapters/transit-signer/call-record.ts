import type { Clock } from '../../ports/clock.ts'
import { SignerError, signingUnavailable, type SignerStatus } from '../../ports/signer.ts'

/** Remembers how calls of a service ended. */
export interface CallRecord {
  /** Passes the result on, and translates a SignerError into Problem `signing_unavailable`. */
  observe<T>(work: () => Promise<T>): Promise<T>
  status(): SignerStatus
}

export interface CallRecordDeps {
  readonly clock: Clock
  /** Called with each failure. */
  readonly onFailure: (error: SignerError) => void
}

export function createCallRecord({ clock, onFailure }: CallRecordDeps): CallRecord {
  let status: SignerStatus = {
    isReachable: undefined,
    since: undefined,
    fault: undefined,
    detail: undefined,
    refusedSignatures: 0,
  }

  function note(error: SignerError | undefined): void {
    const isReachable = error === undefined
    const since = isReachable === status.isReachable ? status.since : new Date(clock.now())
    const refusedSignatures = status.refusedSignatures + (error?.fault === 'signature' ? 1 : 0)
    status = { isReachable, since, fault: error?.fault, detail: error?.message, refusedSignatures }
  }

  return {
    async observe(work) {
      try {
        const result = await work()
        note(undefined)
        return result
      } catch (error) {
        if (!(error instanceof SignerError)) throw error
        note(error)
        onFailure(error)
        throw signingUnavailable(error)
      }
    },
    status: () => status,
  }
}
