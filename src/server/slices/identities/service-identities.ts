import type { Keyring } from '../../ports/keyring.ts'
import type { ServiceIdentities } from '../../ports/service-identities.ts'
import { externalSubjectText } from './external-subject.ts'
import { pseudonymOf } from './pseudonym.ts'
import * as store from './store.ts'

/** Finds service identities by an issuer's subject: only the pseudonym of a subject can be looked up. */
export function createServiceIdentities({ keyring }: { readonly keyring: Keyring }): ServiceIdentities {
  return {
    async find(db, domainId, external) {
      const pseudonym = pseudonymOf(keyring, domainId, externalSubjectText(external))
      const found = await store.findServiceIdentity(db, domainId, pseudonym)
      if (found === undefined) return undefined
      const { id, display_name: displayName, disabled_at } = found
      return { id, domainId, displayName, isDisabled: disabled_at !== null }
    },
  }
}
