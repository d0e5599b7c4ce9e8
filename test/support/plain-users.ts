import { createHash } from 'node:crypto'
import type { Users } from '../../src/server/ports/users.ts'

/** Users as rows, for tests of what needs some: without seals, known by a plain digest. */
export const plainUsers: Users = {
  find: async () => undefined,
  async add(change, { id, domainId, displayName, email, external, bindingId, createdAt }) {
    const pseudonym = createHash('sha256').update(`${domainId} ${external.issuer} ${external.subject}`).digest('hex')
    await change.db
      .insertInto('principals')
      .values({
        id,
        domain_id: domainId,
        kind: 'user',
        display_name: displayName,
        subject_sealed: Buffer.from(external.subject),
        subject_pseudonym: pseudonym,
        email,
        jwks: null,
        spiffe_id: null,
        last_sign_in_at: null,
        binding_id: bindingId,
        created_at: createdAt,
        updated_at: createdAt,
      })
      .execute()
    const edge = { subject: `domain:${domainId}`, relation: 'domain', resource: `user:${id}` }
    await change.tuples.createStructural(edge, { domainId, projectId: null })
    return { id, domainId, displayName, email, isDisabled: false }
  },
  signedIn: async () => undefined,
}
