import type { SecretStoreFault } from '../../ports/secret-store.ts'

/** Why OpenBao or Vault could not be used, whatever it is used for. The message repeats nothing that the server wrote. */
export class BaoError extends Error {
  override readonly name = 'BaoError'
  readonly fault: SecretStoreFault

  constructor(fault: SecretStoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}
