import type { projects } from '../../../shared/contract/projects.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { ProjectRecord } from './store.ts'

type Operations = (typeof projects)['operations']
type ProjectAnswer = Result<Operations['GetProject']>

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
