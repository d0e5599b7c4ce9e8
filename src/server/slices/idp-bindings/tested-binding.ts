import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { IssuerMetadata, Issuers } from '../../ports/issuers.ts'

/** What a test of a binding needs of the server. */
export interface BindingTest {
  readonly issuers: Issuers
  readonly callbackUrl: string
  /** The client secret; undefined for a public client. */
  readonly secret: string | undefined
}

/** A binding under test, with the metadata of its issuer. */
export interface TestedBinding extends BindingTest {
  readonly binding: IdpBinding
  readonly metadata: IssuerMetadata
}
