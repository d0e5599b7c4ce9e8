import type { projects } from '../../../shared/contract/projects.ts'
import { problem } from '../../../shared/problems.ts'
import { cutPage } from '../../http/cut-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { addProject } from './add-project.ts'
import { announce } from './announce.ts'
import { nameOf, toAnswer } from './project.ts'
import * as store from './store.ts'

export interface ProjectsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

/** Serves the Projects of a Domain. They are listed by slug. */
export function createProjects({ datastore, ids }: ProjectsDeps): Handlers<typeof projects> {
  return {
    async CreateProject(ctx, { id: domainId, body }) {
      const at = new Date(ctx.nowMs)
      const project = { id: ids.next(), domain_id: domainId, ...body, created_at: at, updated_at: at }
      await ctx.change(async (change) => {
        if (!(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
        if (!(await addProject(change, project))) throw problem('slug_conflict')
        ctx.about(`project:${project.id}`, domainId)
      })
      ctx.header('Location', `/v1/projects/${project.id}`)
      return toAnswer(project)
    },

    async ListProjects(ctx, { id: domainId }) {
      const range = { domainId, afterSlug: ctx.position?.[0], count: ctx.pageSize + 1 }
      const read = await store.listProjects(datastore.pool('interactive'), range)
      const { rows, next } = cutPage(read, ctx.pageSize, ({ slug }) => [slug])
      const visible = await ctx.visible(rows, ({ id }) => ({ id }))
      return ctx.page(visible.map(toAnswer), next)
    },

    async GetProject(ctx, { id }) {
      const project = await store.findProject(datastore.pool('interactive'), id)
      if (project === undefined) throw problem('project_not_found')
      ctx.about(`project:${id}`, project.domain_id)
      return toAnswer(project)
    },

    async PatchProject(ctx, { id, body }) {
      const renaming = { display_name: nameOf(body), updated_at: new Date(ctx.nowMs) }
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
        const counts = await store.countContents(change.db, id, new Date(ctx.nowMs))
        if (Object.values(counts).some((count) => count > 0)) throw problem('project_not_empty', { counts })
        await store.deleteProject(change.db, id)
        await change.tuples.deleteObject(`project:${id}`)
        announce(change, 'ProjectDeleted', project)
      })
    },
  }
}
