import type { ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { providerBundles } from '../../../shared/contract/provider-bundles.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { byId, bySlug, byVersionDescending } from '../../sql/keyset.ts'
import { toAnswer, toRosterEntry, toVersion } from './bundle.ts'
import * as store from './store.ts'

export interface ProviderBundlesDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

/** Serves provider bundles (S1 Provider bundles). They are listed by slug. */
export function createProviderBundles({ datastore, ids }: ProviderBundlesDeps): Handlers<typeof providerBundles> {
  const read = () => datastore.pool('interactive')

  return {
    async CreateProviderBundle(ctx, { body }) {
      const at = new Date(ctx.nowMs)
      const place = { id: ids.next(), latest_version: 1, row_version: 1 }
      const bundle = { ...body, ...place, created_at: at, updated_at: at }
      await ctx.change(async (change) => {
        await addBundle(change, bundle, ctx.caller.subject)
        ctx.about(`provider_bundle:${bundle.id}`, null)
      })
      ctx.header('Location', `/v1/provider-bundles/${bundle.id}`)
      return toAnswer(bundle)
    },

    ListProviderBundles: (ctx) =>
      listPage(ctx, (range) => store.listBundles(read(), range), {
        positionOf: bySlug.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer,
      }),

    async GetProviderBundle(ctx, { id }) {
      const bundle = await store.findBundle(read(), id)
      if (bundle === undefined) throw problem('provider_bundle_not_found')
      ctx.about(`provider_bundle:${id}`, null)
      return toAnswer(bundle)
    },

    async PatchProviderBundle(ctx, { id, body }) {
      ctx.note({ fields: Object.keys(body).toSorted() })
      const bundle = await store.findBundle(read(), id)
      if (bundle === undefined) throw problem('provider_bundle_not_found')
      ctx.about(`provider_bundle:${id}`, null)
      const next = patched(bundle, body, new Date(ctx.nowMs))
      await ctx.change(async (change) => {
        await store.updateBundle(change.db, bundle, next)
        if (next.latest_version > bundle.latest_version) await publish(change, next, ctx.caller.subject)
        announce(change, 'ProviderBundleUpdated', next)
      })
      return toAnswer(next)
    },

    async DeleteProviderBundle(ctx, { id }) {
      await ctx.change(async (change) => {
        const bundle = await store.lockBundle(change.db, id)
        if (bundle === undefined) throw problem('provider_bundle_not_found')
        ctx.about(`provider_bundle:${id}`, null)
        const referencing = await store.countReferences(change.db, id)
        if (referencing > 0) throw problem('provider_bundle_referenced', { referencing_clouds: referencing })
        await store.deleteBundle(change.db, id)
        await change.tuples.deleteObject(`provider_bundle:${id}`)
        announce(change, 'ProviderBundleDeleted', bundle)
      })
    },

    async ListProviderBundleClouds(ctx, { id }) {
      if (!(await store.existsBundle(read(), id))) throw problem('provider_bundle_not_found')
      ctx.about(`provider_bundle:${id}`, null)
      return listPage(ctx, (range) => store.listReferences(read(), id, range), {
        positionOf: byId.positionOf,
        toAnswer: toRosterEntry,
      })
    },

    async ListProviderBundleVersions(ctx, { id }) {
      if (!(await store.existsBundle(read(), id))) throw problem('provider_bundle_not_found')
      ctx.about(`provider_bundle:${id}`, null)
      return listPage(ctx, (range) => store.listVersions(read(), id, range), {
        positionOf: byVersionDescending.positionOf,
        toAnswer: toVersion,
      })
    },
  }
}

interface BundlePatch {
  readonly display_name?: string | undefined
  readonly provider_packages?: ProviderPackage[] | undefined
  readonly provider_config_api_version?: string | undefined
}

/** The bundle after a patch. One that names content publishes a version, whatever its values (decisions: Catalogue). */
function patched(bundle: store.BundleRecord, patch: BundlePatch, at: Date): store.BundleRecord {
  const isContent = patch.provider_packages !== undefined || patch.provider_config_api_version !== undefined
  return {
    ...bundle,
    display_name: patch.display_name ?? bundle.display_name,
    provider_packages: patch.provider_packages ?? bundle.provider_packages,
    provider_config_api_version: patch.provider_config_api_version ?? bundle.provider_config_api_version,
    latest_version: bundle.latest_version + (isContent ? 1 : 0),
    updated_at: at,
  }
}

async function addBundle(change: Change, bundle: store.BundleRecord, creator: string): Promise<void> {
  const { provider_packages: _packages, provider_config_api_version: _version, ...row } = bundle
  await store.insertBundle(change.db, row)
  await publish(change, bundle, creator)
  const { id, slug, provider } = bundle
  change.emit({
    event: 'ProviderBundleCreated',
    domainId: null,
    aggregate: `provider_bundle:${id}`,
    payload: { provider_bundle_id: id, slug, provider, created_by: creator },
  })
}

/** Freezes the content of the bundle as its latest version. */
async function publish(change: Change, bundle: store.BundleRecord, creator: string): Promise<void> {
  await store.insertVersion(change.db, {
    bundle_id: bundle.id,
    version: bundle.latest_version,
    provider_packages: bundle.provider_packages,
    provider_config_api_version: bundle.provider_config_api_version,
    created_by: creator,
    created_at: bundle.updated_at,
  })
}

function announce(
  change: Change,
  event: 'ProviderBundleUpdated' | 'ProviderBundleDeleted',
  { id, slug, provider }: Pick<store.BundleRecord, 'id' | 'slug' | 'provider'>,
): void {
  const payload = { provider_bundle_id: id, slug, provider }
  change.emit({ event, domainId: null, aggregate: `provider_bundle:${id}`, payload })
}
