/** A sign-in that a browser began and did not finish yet. */
export interface SignInRow {
  /** SHA-256 of `state`. */
  state_hash: Buffer
  /** SHA-256 of the cookie that binds it to the browser. */
  browser_hash: Buffer
  binding_id: string
  domain_id: string
  /** Nonce and PKCE verifier. */
  sealed: Buffer
  return_to: string
  created_at: Date
  expires_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    sign_ins: SignInRow
  }
}
