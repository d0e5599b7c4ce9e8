import type { Model } from '../../../shared/authz/model.ts'
import { parseTupleReference } from '../../../shared/authz/reference.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import type { OwningDomain } from '../../ports/authorizer.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { readAncestors } from './registry-store.ts'

/** Finds the Domain of an object by its parent edges in the registry. The embedded engine does the same in its index. */
export function createStoredObjectDomains(
  model: Model,
  datastore: Datastore,
): (reference: string) => Promise<OwningDomain> {
  const parents = model.types.flatMap(({ name, relations }) =>
    relations.filter(({ structural }) => structural).map((relation) => `${name}#${relation.name}`),
  )
  return async (reference) => {
    if (reference === PLATFORM) return null
    const object = parseTupleReference(reference)
    if (object === undefined || object.relation !== '' || model.type(object.type) === undefined) return undefined
    const line = await readAncestors(datastore.pool('interactive'), object, parents).catch((cause: unknown) => {
      throw problem('authz_unavailable', {}, cause)
    })
    const [, ...ancestors] = line
    const domain = line.find(({ type }) => type === 'domain')
    if (domain !== undefined) return domain.has_parent ? domain.id : undefined
    return ancestors.some(({ type }) => type === 'platform') ? null : undefined
  }
}
