import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import { insertProject, type ProjectRecord } from './store.ts'

/**
 * Adds a Project with its edge to the Domain, which must exist. The first run creates its Project here, too.
 * @throws Problem `slug_conflict`
 */
export async function addProject(change: Change, project: ProjectRecord): Promise<void> {
  await insertProject(change.db, project)
  await change.tuples.createStructural(
    { subject: `domain:${project.domain_id}`, relation: 'domain', resource: `project:${project.id}` },
    { domainId: project.domain_id, projectId: project.id },
  )
  announce(change, 'ProjectCreated', project)
}
