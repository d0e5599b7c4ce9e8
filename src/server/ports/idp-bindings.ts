import type { Db } from './datastore.ts'

/** An identity provider as signing in needs it. The client secret is asked for apart. */
export interface IdpBinding {
  readonly id: string
  /** Null: shared by the platform. */
  readonly domainId: string | null
  readonly alias: string
  readonly label: string
  readonly issuer: string
  readonly clientId: string
  readonly isConfidential: boolean
  readonly apiAudience: string | null
  readonly algorithms: readonly string[]
  readonly claims: {
    readonly subject: string
    readonly email: string
    readonly name: string
    readonly groups: string | null
    readonly domain: string | null
  }
  readonly requiredAcr: readonly string[]
  readonly requiredAmr: readonly string[]
  readonly isPrimary: boolean
  readonly autoProvision: { readonly emailDomains: readonly string[]; readonly groups: readonly string[] } | null
  readonly allowPrivateNetwork: boolean
  /** Whether the issuer is this server itself. */
  readonly isBundled: boolean
  /** Whether people sign in with it; else it is for access tokens alone. */
  readonly signsIn: boolean
}

/** What a request says of where it wants to sign in; every member is optional. */
export interface WhereToSignIn {
  readonly domain_id?: string | undefined
  readonly domain?: string | undefined
  readonly idp_binding_id?: string | undefined
  readonly idp_binding_alias?: string | undefined
}

/** A Domain and the binding to sign in with. */
export interface SignInPlace {
  readonly domainId: string
  readonly binding: IdpBinding
}

/** An access token by who issued it and for whom, as it says itself. */
export interface TokenOrigin {
  readonly issuer: string
  readonly audiences: readonly string[]
}

/** Finds the bindings that are active. */
export interface IdpBindings {
  /**
   * Chooses by precedence: explicit id, alias, the Domain's primary, its only one; a Domain that owns none has the
   * platform's. An unknown Domain is like one without bindings.
   *
   * @throws Problem `domain_required`, `idp_binding_not_found`, `alias-not-found`, `multiple-bindings`
   */
  choose(db: Db, where: WhereToSignIn): Promise<SignInPlace>
  /** The binding, where people sign in with it. */
  find(db: Db, id: string): Promise<IdpBinding | undefined>
  /** The bindings that take access tokens of the issuer for one of the audiences, 2 at most; (issuer, audience) is unique. */
  ofIssuer(db: Db, origin: TokenOrigin): Promise<readonly IdpBinding[]>
  /** The client secret; undefined for a public client. */
  clientSecret(db: Db, id: string): Promise<string | undefined>
}
