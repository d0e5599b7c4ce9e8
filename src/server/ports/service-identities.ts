import type { Db } from './datastore.ts'
import type { ExternalSubject } from './users.ts'

/** A workload of a Domain. */
export interface ServiceIdentity {
  readonly id: string
  readonly domainId: string
  readonly displayName: string
  readonly isDisabled: boolean
}

/** The service identities of Domains, as credentials from elsewhere find them. */
export interface ServiceIdentities {
  /** The one whose subject is `<issuer>#<subject>`. */
  find(db: Db, domainId: string, external: ExternalSubject): Promise<ServiceIdentity | undefined>
}
