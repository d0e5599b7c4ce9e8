/** So many in so long; a bucket holds `count` and is refilled evenly. A count of 0 is no limit. */
export interface Rate {
  readonly count: number
  readonly seconds: number
}

/** Every request rate of the server (decisions: Rate limits). */
export type LimitName =
  | 'failedCredentials'
  | 'signIn'
  | 'serviceTokens'
  | 'registrations'
  | 'node'
  | 'domain'
  | 'writes'
  | 'reads'

/** The rate of each limit. */
export type Rates = { readonly [Name in LimitName]: Rate }
