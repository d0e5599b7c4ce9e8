import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const bundle = z.object({ provider_bundle_id: text, slug: text, provider: text })

/** What `ProviderBundleCreated` says; the grants of the bundle are made from it. */
export const createdBundle = bundle.extend({ created_by: text })

/** Outbox events of provider bundles. */
export const events = {
  ProviderBundleCreated: toNobody(createdBundle),
  ProviderBundleUpdated: toNobody(bundle),
  ProviderBundleDeleted: toNobody(bundle),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}
