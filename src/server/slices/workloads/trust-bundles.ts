import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { serviceToken } from '../../../shared/contract/service-token.ts'
import { problem, type Problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import { visit, type OnRefreshFailure } from './bundle-endpoint.ts'
import * as store from './store.ts'
import { readTrustBundle } from './trust-bundle.ts'

type Operations = (typeof serviceToken)['operations']
type Answer = Result<Operations['GetTrustBundles']>
type Sent = Input<Operations['PutTrustBundles']>['body']['bundles'][number]

export interface TrustBundlesDeps {
  readonly datastore: Datastore
  readonly outgoingFetch: OutgoingFetch
  readonly onRefreshFailure: OnRefreshFailure
}

/**
 * Serves the trust bundles of Domains. An endpoint is fetched before its bundle is stored, so that the answer shows whether
 * it is reachable; an unreachable one keeps its former keys, and is retried.
 */
export function createTrustBundles({
  datastore,
  outgoingFetch: fetch,
  onRefreshFailure: onFailure,
}: TrustBundlesDeps): Pick<Handlers<typeof serviceToken>, 'GetTrustBundles' | 'PutTrustBundles'> {
  const db = () => datastore.pool('interactive')

  async function prepared(sent: Sent, before: Before): Promise<store.TrustBundleRecord> {
    const row = newRow(sent, before)
    const { bundle_url: url } = row
    return url === null
      ? row
      : { ...row, ...(await visit({ ...row, bundle_url: url }, { fetch, nowMs: before.nowMs, onFailure })) }
  }

  return {
    async GetTrustBundles(_ctx, { id: domainId }) {
      return toAnswer(await store.listTrustBundles(db(), domainId))
    },

    async PutTrustBundles(ctx, { id: domainId, body }) {
      assertDistinct(body.bundles)
      const before = { domainId, nowMs: ctx.nowMs, rows: await store.listTrustBundles(db(), domainId) }
      const rows = await Promise.all(body.bundles.map((sent) => prepared(sent, before)))
      await ctx.change(async (change) => {
        if (!(await store.lockDomain(change.db, domainId))) throw problem('domain_not_found')
        await store.replaceTrustBundles(change.db, domainId, rows)
      })
      ctx.note({ item_count: rows.length })
      return toAnswer(rows.toSorted((a, b) => (a.trust_domain < b.trust_domain ? -1 : 1)))
    },
  }
}

/** The trust bundles of a Domain before the change. */
interface Before {
  readonly domainId: string
  readonly nowMs: number
  readonly rows: readonly store.TrustBundleRecord[]
}

/** The row before its endpoint is fetched. @throws Problem `invalid_trust_bundle` */
function newRow(sent: Sent, { domainId, nowMs, rows }: Before): store.TrustBundleRecord {
  const url = sent.bundle_url ?? null
  const known = rows.find((row) => row.trust_domain === sent.trust_domain && url !== null && row.bundle_url === url)
  return {
    domain_id: domainId,
    trust_domain: sent.trust_domain,
    bundle_url: url,
    jwks: known?.jwks ?? { keys: givenKeys(sent) },
    allow_private_network: sent.allow_private_network ?? false,
    refresh_due_at: null,
    refreshed_at: known?.refreshed_at ?? null,
    refresh_failed_since: known?.refresh_failed_since ?? null,
    updated_at: new Date(nowMs),
  }
}

function givenKeys({ jwks, trust_domain: trustDomain }: Sent): Record<string, unknown>[] {
  if (jwks === undefined) return []
  const { keys } = read(jwks, trustDomain)
  if (keys.length === 0) throw refused(trustDomain, 'must have a key of use jwt-svid')
  return [...keys]
}

function read(jwks: unknown, trustDomain: string) {
  try {
    return readTrustBundle(jwks)
  } catch (error) {
    throw refused(trustDomain, error instanceof Error ? error.message : 'is malformed')
  }
}

function refused(trustDomain: string, detail: string): Problem {
  return problem('invalid_trust_bundle', { errors: [{ pointer: '/bundles', detail: `${trustDomain}: ${detail}` }] })
}

function assertDistinct(bundles: readonly Sent[]): void {
  const names = bundles.map((bundle) => bundle.trust_domain)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw refused(repeated, 'is named twice')
}

function toAnswer(rows: readonly store.TrustBundleRecord[]): Answer {
  return {
    bundles: rows.map((row) => ({
      trust_domain: row.trust_domain,
      bundle_url: row.bundle_url,
      key_ids: row.jwks.keys.map(({ kid }) => String(kid)),
      allow_private_network: row.allow_private_network,
      refreshed_at: row.refreshed_at?.toISOString() ?? null,
      refresh_failed_since: row.refresh_failed_since?.toISOString() ?? null,
      updated_at: row.updated_at.toISOString(),
    })),
  }
}
