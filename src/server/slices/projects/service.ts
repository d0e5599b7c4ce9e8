import type { projects } from '../../../shared/contract/projects.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { markOfSet } from '../../labels/managed-by.ts'
import { assertNoContents, type ChildTable } from '../../sql/contents.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { bySlug } from '../../sql/keyset.ts'
import { addProject } from './add-project.ts'
import { announce } from './announce.ts'
import { toAnswer } from './project.ts'
import * as store from './store.ts'

export interface ProjectsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  /** What a Project contains, by child table. */
  readonly contents: readonly ChildTable[]
  readonly approvalQueue: Pick<ApprovalQueue, 'withdrawOfProject'>
}

/** Serves the Projects of a Domain. They are listed by slug. */
export function createProjects({ datastore, ids, contents, approvalQueue }: ProjectsDeps): Handlers<typeof projects> {
  return {
    async CreateProject(ctx, { id: domainId, body: { managed_by, ...body } }) {
      const mark = await markOfSet(ctx, datastore.pool('interactive'), managed_by)
      const at = new Date(ctx.nowMs)
      const project = { id: ids.next(), domain_id: domainId, ...body, created_at: at, updated_at: at }
      await ctx.change(async (change) => {
        if (!(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
        await addProject(change, project)
        await mark(change, { kind: 'project', id: project.id })
        ctx.about(`project:${project.id}`, domainId)
      })
      ctx.header('Location', `/v1/projects/${project.id}`)
      return toAnswer(project)
    },

    ListProjects: (ctx, { id: domainId }) =>
      listPage(ctx, (range) => store.listProjects(datastore.pool('interactive'), domainId, range), {
        positionOf: bySlug.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer,
      }),

    async GetProject(ctx, { id }) {
      const project = await store.findProject(datastore.pool('interactive'), id)
      if (project === undefined) throw problem('project_not_found')
      ctx.about(`project:${id}`, project.domain_id)
      return toAnswer(project)
    },

    async PatchProject(ctx, { id, body }) {
      const renaming = { display_name: body.display_name, updated_at: new Date(ctx.nowMs) }
      const renamed = await ctx.change(async (change) => {
        const project = await store.renameProject(change.db, id, renaming)
        if (project === undefined) throw problem('project_not_found')
        ctx.about(`project:${id}`, project.domain_id)
        announce(change, 'ProjectUpdated', project)
        return project
      })
      return toAnswer(renamed)
    },

    async DeleteProject(ctx, { id }) {
      await ctx.change(async (change) => {
        const project = await store.lockForDelete(change.db, id)
        if (project === undefined) throw problem('project_not_found')
        ctx.about(`project:${id}`, project.domain_id)
        await assertNoContents(change.db, contents, { parent: 'projects', id, now: new Date(ctx.nowMs) })
        await approvalQueue.withdrawOfProject(change, id, ctx.nowMs)
        await store.deleteProject(change.db, id)
        await change.tuples.deleteObject(`project:${id}`)
        announce(change, 'ProjectDeleted', project)
      })
    },
  }
}
