/** What a sign-in of the person may have to prove. */
export interface FactorPolicy {
  /** RFC 8176, all of them. */
  readonly requiredAmr: readonly string[]
  /** Any of them. */
  readonly requiredAcr: readonly string[]
  /** What counts as strong in the Domain, any of them. */
  readonly strongAcr: readonly string[]
}
