/** Why an attestation does not vouch for a file: one sentence for operators. */
export class Unverified extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause })
    this.name = 'Unverified'
  }
}
