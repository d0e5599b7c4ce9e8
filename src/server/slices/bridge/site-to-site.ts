import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { Tunnel } from '../../bridges/bridge-parts.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createPartHandlers } from './part-handlers.ts'
import type { PartKind, Stored } from './part-kind.ts'
import * as store from './tunnel-store.ts'

type Operations = (typeof bridge)['operations']
type TunnelAnswer = Result<Operations['GetBridgeSiteToSiteTunnel']>
type Served = Pick<
  Handlers<typeof bridge>,
  | 'CreateBridgeSiteToSiteTunnel'
  | 'ListBridgeSiteToSiteTunnels'
  | 'GetBridgeSiteToSiteTunnel'
  | 'UpdateBridgeSiteToSiteTunnel'
  | 'DeleteBridgeSiteToSiteTunnel'
>

const KIND: PartKind<Tunnel> = {
  part: 'site-to-site',
  events: { configured: 'bridge.SiteToSiteTunnelConfigured', removed: 'bridge.SiteToSiteTunnelRemoved' },
  missing: 'site_to_site_tunnel_not_found',
  candidateOf: (value) => ({ part: 'site-to-site', value }),
  list: store.listTunnels,
  find: store.findTunnel,
  insert: store.insertTunnel,
  update: store.updateTunnel,
  remove: store.removeTunnel,
  claim: store.claimTunnel,
}

/** Serves the site-to-site tunnels of a bridge. */
export function createSiteToSite(deps: { readonly datastore: Datastore }): Served {
  const { create, list, get, replace, remove } = createPartHandlers(deps, KIND)
  return {
    CreateBridgeSiteToSiteTunnel: async (ctx, { body, ...path }) =>
      toAnswer(await create(ctx, path, tunnelOf(body.slug, body))),
    ListBridgeSiteToSiteTunnels: async (ctx, path) => ({ items: (await list(ctx, path)).map(toAnswer) }),
    GetBridgeSiteToSiteTunnel: async (ctx, path) => toAnswer(await get(ctx, path)),
    UpdateBridgeSiteToSiteTunnel: async (ctx, { body, slug, ...path }) =>
      toAnswer(await replace(ctx, path, { value: tunnelOf(slug, body) })),
    DeleteBridgeSiteToSiteTunnel: remove,
  }
}

type Body = Input<Operations['UpdateBridgeSiteToSiteTunnel']>['body']

/** A tunnel as it is stored. */
export function tunnelOf(slug: string, body: Body): Tunnel {
  return { ...body, slug, allowed_subnets: body.allowed_subnets.toSorted() }
}

function toAnswer(row: Stored<Tunnel>): TunnelAnswer {
  return { ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() }
}
