import type { Model } from '../../../shared/authz/model.ts'
import { isObjectId, parseTupleReference } from '../../../shared/authz/reference.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import { problem } from '../../../shared/problems.ts'
import type { Authorizer, CheckQuery } from '../../ports/authorizer.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Found, Spicedb } from './client.ts'
import { inOrder } from './lookup-order.ts'

export interface LookupsDeps {
  readonly model: Model
  readonly datastore: Datastore
  readonly spicedb: Pick<Spicedb, 'lookupResources' | 'lookupSubjects'>
  readonly freshness: () => string | undefined
  /** Decides results that depend on caveats. */
  readonly check: Authorizer['check']
}

/** Conditional results that are decided at the same time. */
const CHECKS_AT_ONCE = 16

/** An id that no object has: it represents a subject that only a wildcard names. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000'

/** Lookups as SpiceDB answers them, in the order of the registry. */
export function createSpicedbLookups({ model, datastore, spicedb, freshness, check }: LookupsDeps): AuthzLookups {
  const askableOf = (type: string, relation: string) => {
    const asked = model.type(type)?.askable.get(relation)
    if (asked === undefined)
      throw invalidTriple({ part: 'relation', reason: relation === '' ? 'malformed' : 'unknown' })
    return asked
  }

  const objectIn = (reference: string, part: 'subject' | 'resource') => {
    const parsed = parseTupleReference(reference)
    if (parsed === undefined || parsed.relation !== '' || !isObjectId(parsed.id))
      throw invalidTriple({ part, reason: 'malformed' })
    if (model.type(parsed.type) === undefined) throw invalidTriple({ part, reason: 'unknown' })
    return parsed
  }

  const requireType = (type: string, part: 'subject' | 'resource') => {
    if (model.type(type) === undefined) throw invalidTriple({ part, reason: 'unknown' })
  }

  /** The ids that hold unconditionally, or after a check of their caveats. */
  async function decided(found: readonly Found[], question: (id: string) => CheckQuery): Promise<string[]> {
    const kept = new Set(found.filter(({ isConditional }) => !isConditional).map(({ id }) => id))
    const open = found.filter(({ id }) => !kept.has(id))
    for (let from = 0; from < open.length; from += CHECKS_AT_ONCE) {
      const batch = open.slice(from, from + CHECKS_AT_ONCE)
      const decisions = await Promise.all(batch.map(async ({ id }) => check(question(id))))
      batch.forEach(({ id }, at) => decisions[at]?.allowed === true && kept.add(id))
    }
    return [...kept]
  }

  const sorted = (type: string, ids: readonly string[]) =>
    inOrder(datastore.pool('interactive'), { type, ids }).catch((cause: unknown) => {
      throw problem('authz_unavailable', {}, cause)
    })

  return {
    async resources({ subject: asker, relation, resourceType, facts, allowedFacts }) {
      requireType(resourceType, 'resource')
      const { engineName: permission } = askableOf(resourceType, relation)
      const subject = objectIn(asker, 'subject')
      const found = await spicedb.lookupResources({ resourceType, permission, subject, freshness: freshness() })
      const question = (id: string): CheckQuery => {
        return { subject: asker, relation, resource: `${resourceType}:${id}`, facts, allowedFacts, wantPath: false }
      }
      return sorted(resourceType, await decided(found, question))
    },
    async fewResources({ subject: asker, relation, resourceType, max }) {
      requireType(resourceType, 'resource')
      const { engineName: permission } = askableOf(resourceType, relation)
      const subject = objectIn(asker, 'subject')
      const found = await spicedb.lookupResources({ resourceType, permission, subject, freshness: freshness(), max })
      return found.length > max ? undefined : [...new Set(found.map(({ id }) => id))]
    },
    async subjects({ subjectType, relation, resource: asked, facts, allowedFacts }) {
      const resource = objectIn(asked, 'resource')
      requireType(subjectType, 'subject')
      const { engineName: permission } = askableOf(resource.type, relation)
      const found = await spicedb.lookupSubjects({ subjectType, permission, resource, freshness: freshness() })
      const question = (id: string): CheckQuery => {
        const subject = `${subjectType}:${id === '*' ? UNKNOWN_ID : id}`
        return { subject, relation, resource: asked, facts, allowedFacts, wantPath: false }
      }
      return sorted(subjectType, await decided(found, question))
    },
  }
}
