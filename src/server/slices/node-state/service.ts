import type { StaleAnswersOptions } from '../../ports/stale-answers.ts'
import type { nodeState } from '../../../shared/contract/node-state.ts'
import type { Rendered } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { isUnavailable, type Datastore } from '../../ports/datastore.ts'
import { createGatheredReads } from '../../../shared/batch-loader.ts'
import { createDomainPeers } from './domain-peers.ts'
import { etagOf, isNamed, type PeersVersion } from './etag.ts'
import { renderOwn, type OwnState } from './own-state.ts'
import { peersOf, versionOf, type PeerList } from './peer-list.ts'
import { readPeers } from './peers-store.ts'
import { createPulls } from './pulls.ts'
import { writePulls } from './pulls-store.ts'
import { createStaleStates } from './stale-states.ts'
import { readOwn, readRevisions, type StateRevisions } from './store.ts'

export interface NodeStateDeps {
  readonly datastore: Datastore
  readonly staleStates: StaleAnswersOptions
  /** Called when what nodes have pulled could not be stored: they are asked to pull once more. */
  readonly onFailure: (error: unknown) => void
}

/** Serves the desired state of nodes. */
export interface NodeState {
  readonly handlers: Handlers<typeof nodeState>
  /** Resolves when the records of pulls are stored. */
  settled(): Promise<void>
}

/** Nodes in one read: few, so that a node with a large state does not delay many others. */
const GATHERED = { flightsMax: 2, batchMax: 32, isOutage: isUnavailable } as const

/** Maximum of Domains whose rendered peers are cached, where no states are cached for outages. */
const LISTS_MIN = 64

type Revisions = Pick<StateRevisions, 'peers' | 'node'>

export function createNodeState({ datastore, staleStates, onFailure }: NodeStateDeps): NodeState {
  const db = () => datastore.pool('interactive')
  const domains = createDomainPeers({
    read: (domainId, since) => readPeers(db(), domainId, since),
    // The peers of a node whose own part is cached stay cached, too, whatever the number of Domains.
    listsMax: Math.max(LISTS_MIN, staleStates.entriesMax),
  })
  const revisionsOf = createGatheredReads({ ...GATHERED, readMany: (ids) => readRevisions(db(), ids) })
  const ownOf = createGatheredReads({ ...GATHERED, readMany: (ids) => readOwn(db(), ids) })
  const pulls = createPulls({ write: (batch) => writePulls(datastore.pool('worker'), batch), onFailure })
  const stale = createStaleStates(staleStates)
  let awaySinceMs: number | undefined

  /**
   * Whether the caller has the state already: the revisions alone show it where the node sees all peers. Where it sees some,
   * the revision rises with changes of others too, and the digest of those that it sees decides.
   */
  async function unchanged(ctx: RequestContext, nodeId: string): Promise<boolean> {
    if (ctx.requestHeader('If-None-Match') === undefined) return false
    const revisions = await revisionsOf(nodeId)
    if (revisions === undefined) return gone(nodeId)
    const { node } = revisions
    const { peers, version } = await peersSeen(nodeId, revisions)
    const etag = etagOf({ nodeId, peers: version, node })
    if (!tagged(ctx, etag)) return false
    domains.touch(revisions.domainId)
    if (isOwn(ctx)) stale.confirm(nodeId, { peers, node, etag }, ctx.nowMs)
    pulled(ctx, nodeId, { was: revisions, is: { peers, node } })
    return true
  }

  async function peersSeen(
    nodeId: string,
    { domainId, peers, isFiltered }: StateRevisions,
  ): Promise<{ readonly peers: number; readonly version: PeersVersion }> {
    if (!isFiltered) return { peers, version: peers }
    const list = await domains.at(domainId, peers)
    return { peers: list.revision, version: versionOf(list, nodeId) }
  }

  async function current(ctx: RequestContext, nodeId: string): Promise<Rendered | void> {
    if (await unchanged(ctx, nodeId)) return ctx.status(304)
    const read = await ownOf(nodeId)
    if (read === undefined) return gone(nodeId)
    const { domainId, node: nodeRevision, peers: atLeast } = read.revisions
    const own = { domainId, nodeRevision, ...renderOwn(read.own) }
    const peers = await domains.at(domainId, atLeast)
    const etag = etagOf({ nodeId, peers: versionOf(peers, nodeId), node: nodeRevision })
    if (isOwn(ctx)) stale.keep(nodeId, { own, peers: peers.revision, etag }, ctx.nowMs)
    pulled(ctx, nodeId, { was: read.revisions, is: { peers: peers.revision, node: nodeRevision } })
    return stateOf(ctx, nodeId, { own, peers, etag })
  }

  /**
   * The last state that this replica sent to the node, with the latest that it sent of each peer. Another replica may have sent a newer one:
   * this replica does not know it, and an older state would revert what the node has.
   */
  function asPulledLast(ctx: RequestContext, nodeId: string, failure?: unknown): Rendered | void {
    awaySinceMs ??= ctx.nowMs
    const known = stale.find(nodeId, ctx.nowMs)
    const peers = known && domains.last(known.own.domainId)
    if (known === undefined || peers === undefined || peers.revision < known.peers)
      throw problem('datastore_unavailable', {}, failure)
    const { own } = known
    const etag = etagOf({ nodeId, peers: versionOf(peers, nodeId), node: own.nodeRevision })
    if (hasOther(ctx, [known.etag, etag])) throw problem('datastore_unavailable', {}, failure)
    ctx.degraded(awaySinceMs, 'datastore')
    return stateOf(ctx, nodeId, { own, peers, etag })
  }

  function stateOf(ctx: RequestContext, nodeId: string, { own, peers, etag }: Parts): Rendered | void {
    if (tagged(ctx, etag)) return ctx.status(304)
    return { pieces: [own.head, ...peersOf(peers, nodeId), own.tail] }
  }

  /** An operator's read is no pull by the node. */
  function pulled(
    ctx: RequestContext,
    nodeId: string,
    { was: { pulled: before }, is }: { readonly was: StateRevisions; readonly is: Revisions },
  ): void {
    const isNews = before === null || before.peers < is.peers || before.node < is.node
    if (isNews && isOwn(ctx)) pulls.note({ nodeId, peers: is.peers, node: is.node })
  }

  function gone(nodeId: string): never {
    stale.drop(nodeId)
    throw problem('node_not_found')
  }

  return {
    handlers: {
      async GetNodeState(ctx, { id }) {
        // A caller that was authenticated from the cache would only wait for the same failure again.
        if (ctx.caller.staleSinceMs !== undefined) return asPulledLast(ctx, id)
        try {
          const state = await current(ctx, id)
          awaySinceMs = undefined
          return state
        } catch (error) {
          if (isUnavailable(error)) return asPulledLast(ctx, id, error)
          throw error
        }
      },
    },
    settled: () => pulls.settled(),
  }
}

interface Parts {
  readonly own: OwnState
  readonly peers: PeerList
  readonly etag: string
}

/** Whether the node itself pulls: what an operator reads, the node does not have. */
function isOwn({ caller }: RequestContext): boolean {
  return caller.kind === 'node'
}

/** Whether `If-None-Match` names only other states. */
function hasOther(ctx: RequestContext, etags: readonly string[]): boolean {
  const presented = ctx.requestHeader('If-None-Match')
  return presented !== undefined && !etags.some((etag) => isNamed(etag, presented))
}

/** Sets the `ETag` of the answer; true where the caller already has the state. */
function tagged(ctx: RequestContext, etag: string): boolean {
  ctx.header('ETag', etag)
  ctx.header('Cache-Control', 'no-cache')
  const known = ctx.requestHeader('If-None-Match')
  return known !== undefined && isNamed(etag, known)
}
