import type { Change } from '../../ports/unit-of-work.ts'
import type { ProjectRecord } from './store.ts'

/** Appends a change of a Project to the outbox: its id and slug, never its display name. */
export function announce(
  change: Change,
  event: 'ProjectCreated' | 'ProjectUpdated' | 'ProjectDeleted',
  project: ProjectRecord,
): void {
  change.emit({
    event,
    domainId: project.domain_id,
    aggregate: `project:${project.id}`,
    payload: { project_id: project.id, slug: project.slug },
  })
}
