import type { projects } from '../../../shared/contract/projects.ts'
import type { Input, Result } from '../../../shared/contract/operation.ts'
import { problem } from '../../../shared/problems.ts'
import type { ProjectRecord } from './store.ts'

type Operations = (typeof projects)['operations']
type ProjectAnswer = Result<Operations['GetProject']>
type ProjectPatchBody = Input<Operations['PatchProject']>['body']

/**
 * The new display name that a patch asks for.
 * @throws Problem `empty_patch` when it names none.
 */
export function nameOf(patch: ProjectPatchBody): string {
  if (patch.display_name === undefined) throw problem('empty_patch')
  return patch.display_name
}

/** The row as the API shows it. */
export function toAnswer(project: ProjectRecord): ProjectAnswer {
  return {
    id: project.id,
    domain_id: project.domain_id,
    slug: project.slug,
    display_name: project.display_name,
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
  }
}
