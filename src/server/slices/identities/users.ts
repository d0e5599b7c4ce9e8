import { problem } from '../../../shared/problems.ts'
import type { User, Users } from '../../ports/users.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { sealedSubjectOf, type PrincipalKeys } from './add-service-identity.ts'
import { externalSubjectText } from './external-subject.ts'
import { referenceOf } from './identity.ts'
import { parentEdgeOf } from './parent-edge.ts'
import { userPseudonymOf } from './pseudonym.ts'
import * as store from './store.ts'

/** Creates the port to the users of Domains: the external subject is sealed, and found by its pseudonym. */
export function createUsers({ keyring, sealing }: PrincipalKeys): Users {
  return {
    async find(db, domainId, external) {
      const found = await store.findUser(db, domainId, userPseudonymOf(keyring, domainId, external))
      return found && toUser(found)
    },

    async add(change, { id, domainId, external, bindingId, createdAt, displayName, email }) {
      const subject = Buffer.from(externalSubjectText(external), 'utf8')
      const record: store.PrincipalRecord = {
        id,
        domain_id: domainId,
        kind: 'user',
        display_name: displayName,
        subject_sealed: await sealing.seal(sealedSubjectOf(id), subject),
        subject_pseudonym: userPseudonymOf(keyring, domainId, external),
        email,
        jwks: null,
        spiffe_id: null,
        last_sign_in_at: null,
        binding_id: bindingId,
        disabled_at: null,
        created_at: createdAt,
        updated_at: createdAt,
      }
      if (!(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
      await store.insertUser(change.db, record)
      const reference = referenceOf(record)
      const { tuple, place } = parentEdgeOf(reference, domainId)
      await change.tuples.createStructural(tuple, place)
      const payload = { user_id: id, binding_id: bindingId }
      change.emit({ event: 'identity.UserProvisioned', domainId, aggregate: reference, payload })
      return toUser(record)
    },

    async signedIn({ db }, id, { displayName, email, at }) {
      await store.updateUser(db, id, { display_name: displayName, email, last_sign_in_at: at, updated_at: at })
    },
  }
}

function toUser({
  id,
  domain_id: domainId,
  display_name: displayName,
  email,
  disabled_at,
}: store.PrincipalRecord): User {
  return { id, domainId, displayName, email, isDisabled: disabled_at !== null }
}
