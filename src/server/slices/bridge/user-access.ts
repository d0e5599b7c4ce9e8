import { canonicalize } from '../../../shared/canonical-json.ts'
import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { BridgeParts, UserAccess } from '../../bridges/bridge-parts.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createPartHandlers } from './part-handlers.ts'
import type { PartKind, Stored } from './part-kind.ts'
import * as store from './user-access-store.ts'

type Operations = (typeof bridge)['operations']
type UserAccessAnswer = Result<Operations['GetBridgeUserAccessProvider']>
type Served = Pick<
  Handlers<typeof bridge>,
  | 'CreateBridgeUserAccessProvider'
  | 'ListBridgeUserAccessProviders'
  | 'GetBridgeUserAccessProvider'
  | 'UpdateBridgeUserAccessProvider'
  | 'DeleteBridgeUserAccessProvider'
>

const KIND: PartKind<UserAccess> = {
  part: 'user-access',
  events: {
    configured: 'bridge.UserAccessProviderConfigured',
    removed: 'bridge.UserAccessProviderRemoved',
  },
  missing: 'user_access_provider_not_found',
  candidateOf: (value) => ({ part: 'user-access', value }),
  list: store.listUserAccess,
  find: store.findUserAccess,
  insert: store.insertUserAccess,
  update: store.updateUserAccess,
  remove: store.removeUserAccess,
  claim: store.claimUserAccess,
}

/** Serves the user-access providers of a bridge. */
export function createUserAccess(deps: { readonly datastore: Datastore }): Served {
  const { create, list, get, replace, remove } = createPartHandlers(deps, KIND)
  return {
    CreateBridgeUserAccessProvider: async (ctx, { body, ...path }) =>
      toAnswer(await create(ctx, path, userAccessOf(body.slug, body))),
    ListBridgeUserAccessProviders: async (ctx, path) => ({ items: (await list(ctx, path)).map(toAnswer) }),
    GetBridgeUserAccessProvider: async (ctx, path) => toAnswer(await get(ctx, path)),
    UpdateBridgeUserAccessProvider: async (ctx, { body, slug, ...path }) =>
      toAnswer(await replace(ctx, path, replacementOf(slug, body))),
    DeleteBridgeUserAccessProvider: remove,
  }
}

type Body = Input<Operations['UpdateBridgeUserAccessProvider']>['body']

/** A provider as it is stored. */
export function userAccessOf(slug: string, body: Body): UserAccess {
  return {
    ...body,
    slug,
    routing_policy: canonicalize(body.routing_policy),
    peer_subnet: body.peer_subnet ?? null,
  }
}

/** Clients that do not know `peer_subnet` yet do not send it: the devices keep their network. */
function replacementOf(slug: string, body: Body) {
  const value = userAccessOf(slug, body)
  if (body.peer_subnet !== undefined) return { value }
  const keptOf = ({ userAccess }: BridgeParts) => userAccess.find((stored) => stored.slug === slug)?.peer_subnet ?? null
  return { value, completed: (parts: BridgeParts): UserAccess => ({ ...value, peer_subnet: keptOf(parts) }) }
}

function toAnswer(row: Stored<UserAccess>): UserAccessAnswer {
  return {
    resource_id: row.resource_id,
    slug: row.slug,
    kind: row.kind,
    interface_name: row.interface_name,
    listen_port: row.listen_port,
    max_peers: row.max_peers,
    auth_secret_ref: row.auth_secret_ref,
    // Stored as the canonical text of an object that the contract admitted.
    routing_policy: JSON.parse(row.routing_policy) as UserAccessAnswer['routing_policy'],
    peer_subnet: row.peer_subnet,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
