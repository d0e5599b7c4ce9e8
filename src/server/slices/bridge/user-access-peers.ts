import { providerKeyIn, readHostReport } from '../../../shared/bridges/host-report.ts'
import { freePeerAddress, peerCountOf } from '../../../shared/bridges/peer-subnet.ts'
import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { UserAccess } from '../../bridges/bridge-parts.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { parsePublicKey } from '../../sql/public-key.ts'
import { bridgeOf, changeBridge, publish, type Held } from './change-bridge.ts'
import { nameOf, type PartKey } from './part-kind.ts'
import * as store from './peer-store.ts'
import { listHosts } from './status-store.ts'
import { findUserAccess } from './user-access-store.ts'

type Operations = (typeof bridge)['operations']
type Served = Pick<
  Handlers<typeof bridge>,
  'CreateBridgeUserAccessPeer' | 'ListBridgeUserAccessPeers' | 'DeleteBridgeUserAccessPeer'
>

/** Serves the peers of the user-access providers of a bridge. */
export function createUserAccessPeers({ datastore }: { readonly datastore: Datastore }): Served {
  return {
    async CreateBridgeUserAccessPeer(ctx, { body, slug, ...path }) {
      parsePublicKey(body.public_key)
      const row = await changeBridge({ ctx, path, datastore }, async (held) => {
        const key = { resource_id: held.bridge.resourceId, slug }
        const address = await freeAddress(held.change.db, key)
        const peer = { ...key, ...body, address, created_at: held.at }
        await store.insertPeer(held.change.db, peer)
        await announce(held, slug)
        return peer
      })
      const { project_id, resource_id } = path
      const provider = `/v1/projects/${project_id}/resources/${resource_id}/bridge/user-access/${slug}`
      ctx.header('Location', `${provider}/peers/${row.name}`)
      return toAnswer(row)
    },

    async ListBridgeUserAccessPeers(ctx, { slug, ...path }) {
      const db = datastore.pool('interactive')
      const { resourceId, meshCidr } = await bridgeOf(ctx, db, path)
      const key = { resource_id: resourceId, slug }
      await providerOf(db, key)
      const [peers, hosts] = [await store.listPeers(db, key), await listHosts(db, resourceId)]
      return {
        items: peers.map(toAnswer),
        hosts: hosts.map(({ node_id, name, address, value }) => ({
          node_id,
          name,
          address,
          public_key: publicKeyIn(value, slug),
        })),
        mesh_cidr: meshCidr,
      }
    },

    async DeleteBridgeUserAccessPeer(ctx, { slug, peer, ...path }) {
      await changeBridge({ ctx, path, datastore }, async (held) => {
        const key = { resource_id: held.bridge.resourceId, slug }
        await providerOf(held.change.db, key)
        if (!(await store.removePeer(held.change.db, key, peer))) throw problem('user_access_peer_not_found')
        await announce(held, slug)
      })
    },
  }
}

/** To the hosts a changed list of peers is another configuration of the provider. */
function announce(held: Held, slug: string): Promise<void> {
  return publish(held, { literal: 'bridge.UserAccessProviderConfigured', part: nameOf('user-access', slug) })
}

async function providerOf(db: Db, key: PartKey): Promise<UserAccess> {
  const provider = await findUserAccess(db, key)
  if (provider === undefined) throw problem('user_access_provider_not_found')
  return provider
}

/** @throws Problem `user_access_provider_not_found`, `peer_subnet_missing`, `max_peers_reached`. */
async function freeAddress(db: Db, key: PartKey): Promise<string> {
  const { peer_subnet: subnet, max_peers: max } = await providerOf(db, key)
  if (subnet === null) throw problem('peer_subnet_missing')
  const taken = new Set((await store.listPeers(db, key)).map(({ address }) => address))
  const limit = Math.min(max, peerCountOf(subnet))
  const address = taken.size < limit ? freePeerAddress(subnet, taken) : undefined
  if (address === undefined) throw problem('max_peers_reached', { limit })
  return address
}

function publicKeyIn(report: string | null, slug: string): string | null {
  if (report === null) return null
  const read = readHostReport(JSON.parse(report))
  return read === undefined ? null : (providerKeyIn(read, slug) ?? null)
}

type PeerAnswer = Result<Operations['CreateBridgeUserAccessPeer']>

function toAnswer({ slug, created_at, ...peer }: store.StoredPeer): PeerAnswer {
  return { ...peer, provider: slug, created_at: created_at.toISOString() }
}
