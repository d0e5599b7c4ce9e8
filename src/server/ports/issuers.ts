import type { CryptoKey, JWSHeaderParameters } from 'jose'
import type { IdpBinding } from './idp-bindings.ts'

/** What discovery says of an issuer, as far as it is used (OpenID Connect Discovery 1.0 §3). */
export interface IssuerMetadata {
  readonly issuer: string
  /** Undefined where the issuer signs nobody in. */
  readonly authorization_endpoint?: string
  readonly token_endpoint?: string
  readonly jwks_uri: string
  readonly [member: string]: unknown
}

/** Where and how an issuer is reached. */
export type IssuerAddress = Pick<IdpBinding, 'issuer' | 'allowPrivateNetwork' | 'isBundled'>

/** Knows issuers by what they publish. Discovery and keys are kept; nothing is asked twice at the same time. */
export interface Issuers {
  /** Kept for an hour. @throws Problem `idp_unavailable` */
  metadata(at: IssuerAddress): Promise<IssuerMetadata>
  /**
   * The key that a signature names. An unknown `kid` refreshes the set once a minute at most, shared by all who ask.
   *
   * @throws Problem `idp_unavailable` when the keys cannot be had, JOSEError when none fits.
   */
  key(at: IssuerAddress, header: JWSHeaderParameters): Promise<CryptoKey | Uint8Array>
  /** A `fetch` through the guard, for libraries that bring their own requests. */
  fetchFor(at: IssuerAddress): typeof fetch
  /** Drops what is kept of an issuer. */
  forget(issuer: string): void
}
