import { PLATFORM } from '../../../shared/ids.ts'
import { CloudPatchRequest } from '../../../shared/contract/catalogue-schemas.ts'
import type { clouds } from '../../../shared/contract/clouds.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { settled } from '../../http/settled.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LentClouds } from '../../ports/lent-clouds.ts'
import { bySlug } from '../../sql/keyset.ts'
import { addCloud } from './add-cloud.ts'
import { announce } from './announce.ts'
import { toAnswer } from './cloud.ts'
import { assertMode, configurationChange } from './configuration.ts'
import { patchCloud } from './patch-cloud.ts'
import { assertSettings } from './settings.ts'
import * as store from './store.ts'

export interface CloudsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly lentClouds: LentClouds
}

/** Serves Clouds (S1 Clouds). They are listed by slug. */
export function createClouds({ datastore, ids, lentClouds }: CloudsDeps): Handlers<typeof clouds> {
  const read = () => datastore.pool('interactive')

  return {
    async CreateCloud(ctx, { body }) {
      assertSettings(body.provider, body)
      const draft = { id: ids.next(), at: new Date(ctx.nowMs), creator: ctx.caller.subject, body }
      const created = await ctx.change(async (change) => {
        const cloud = await addCloud(change, draft)
        ctx.about(`cloud:${cloud.id}`, null)
        return cloud
      })
      ctx.header('Location', `/v1/clouds/${created.id}`)
      return toAnswer(created)
    },

    ListClouds: (ctx) =>
      listPage(ctx, (range) => store.listClouds(read(), range), {
        positionOf: bySlug.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer,
      }),

    async GetCloud(ctx, { id }) {
      const cloud = await store.findCloud(read(), id)
      if (cloud === undefined) throw problem('cloud_not_found')
      ctx.about(`cloud:${id}`, null)
      return toAnswer(cloud)
    },

    async PatchCloud(ctx, { id, body: sent }) {
      ctx.note({ fields: Object.keys(sent).toSorted() })
      const cloud = await store.findCloud(read(), id)
      if (cloud === undefined) throw problem('cloud_not_found')
      ctx.about(`cloud:${id}`, null)
      assertMode(cloud, sent)
      const body = settled(CloudPatchRequest, sent)
      const configuration = configurationChange(cloud, body)
      assertSettings(cloud.provider, body)
      if (configuration.kind === 'reference') await requireBundle(ctx, configuration.bundleId)
      const patch = { cloud, body, configuration, at: new Date(ctx.nowMs) }
      return toAnswer(await ctx.change((change) => patchCloud(change, patch)))
    },

    async DeleteCloud(ctx, { id }) {
      await ctx.change(async (change) => {
        const cloud = await store.lockCloud(change.db, id)
        if (cloud === undefined) throw problem('cloud_not_found')
        ctx.about(`cloud:${id}`, null)
        const credentials = await store.countCredentials(change.db, id)
        if (credentials > 0) throw problem('cloud_not_empty', { counts: { cloud_credentials: credentials } })
        await lentClouds.end(change, id, ctx.nowMs)
        await store.deleteCloud(change.db, id)
        await change.tuples.deleteObject(`cloud:${id}`)
        announce(change, 'CloudDeleted', cloud)
      })
    },
  }
}

/**
 * The second check of a patch that touches the bundle reference (S1 Clouds 5). It comes before the bundle is looked for: who
 * may observe neither the platform's nor this bundle gets one refusal, whether the bundle exists or not.
 */
async function requireBundle(ctx: RequestContext, bundleId: string): Promise<void> {
  if (await ctx.holds('manage', PLATFORM)) return
  await ctx.require('observe', `provider_bundle:${bundleId}`)
}
