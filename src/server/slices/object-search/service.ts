import type { objectSearch } from '../../../shared/contract/object-search.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { QueryScope } from '../../../shared/selectors/definition.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage, type ListOf } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import { knowsDefinition } from '../../labels/known-definitions.ts'
import { namedDefinitions, readSelected, type SelectedObject } from '../../labels/selector-query.ts'
import { resolveSelector } from '../../labels/resolve-selector.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { byKindAndId } from '../../sql/keyset.ts'
import { createFewVisible } from './few-visible.ts'
import { createNameReader } from './name-store.ts'
import { labelsOf, shownKind, toObject } from './found-object.ts'
import { previewSelector } from './preview.ts'
import { searchPage } from './search-page.ts'
import { domainOfProject } from './store.ts'

type FoundObject = Result<(typeof objectSearch)['operations']['SearchObjectsByLabel']>['items'][number]

export interface ObjectSearchDeps {
  readonly datastore: Datastore
  readonly authorizer: Authorizer
  readonly lookups: AuthzLookups
}

/** Serves selectors: their preview, and the search of objects by their labels (decisions: Labels). */
export function createObjectSearch({
  datastore,
  authorizer,
  lookups,
}: ObjectSearchDeps): Handlers<typeof objectSearch> {
  const db = () => datastore.pool('interactive')
  const fewVisible = createFewVisible({ authorizer, lookups })

  /** A scope that does not exist has no objects, so that nobody learns which ones do. */
  async function scopeOf(scope: 'platform' | 'domain' | 'project' = 'platform', id = ''): Promise<QueryScope> {
    if (scope === 'platform') return {}
    if (scope === 'domain') return { domainId: id }
    const domainId = await domainOfProject(db(), id)
    return { projectId: id, ...(domainId !== undefined && { domainId }) }
  }

  return {
    async PreviewLabelSelector(ctx, { body: { selector, scope, scope_id: scopeId, kind } }) {
      const asked = { selector, scope: await scopeOf(scope, scopeId), kind, knows: knowsDefinition(ctx) }
      return previewSelector(db(), asked)
    },

    async PreviewDomainSelector(ctx, { id: domainId, body: { selector, project_id: projectId, kind } }) {
      if (projectId !== undefined && (await domainOfProject(db(), projectId)) !== domainId)
        throw problem('project_not_found')
      const scope = { domainId, ...(projectId !== undefined && { projectId }) }
      return previewSelector(db(), { selector, scope, kind, knows: knowsDefinition(ctx) })
    },

    async SearchObjectsByLabel(ctx, { body }) {
      const { selector, relation = 'read', kind } = body
      const scope = await scopeOf(body.scope, body.scope_id)
      const { bound, errors } = await resolveSelector(db(), selector, { ...scope, knows: knowsDefinition(ctx) })
      if (bound === undefined) throw problem('invalid_selector', { errors })
      const definitions = namedDefinitions(bound)
      const nameOf = createNameReader(db())
      const shown: ListOf<SelectedObject, FoundObject> = {
        positionOf: byKindAndId.positionOf,
        visible: ({ id, ...row }) => {
          const type = shownKind(row, kind)
          return { kind: type, id, relation: authorizer.hasRelation(type, relation) ? relation : '' }
        },
        toAnswer: async (row) => ({
          ...toObject(row, shownKind(row, kind), await nameOf(row)),
          labels: labelsOf(definitions, row.labels),
        }),
      }
      return searchPage(ctx, {
        sought: { relation, kind },
        fewVisible,
        read: (among) => listPage(ctx, (range) => readSelected(db(), { bound, scope, kind, among }, range), shown),
      })
    },
  }
}
