import { ProblemAnswer } from '../../../client/failures.ts'
import type { Session } from '../../session/session.ts'
import { nodeNames } from '../policies/preview-request.ts'
import type { BridgeStatus, IngressRule, Provider, Relay, Resource, Tunnel } from './answers.ts'
import type { BridgePlace } from './place.ts'

/** A bridge with all its parts. */
export interface WholeBridge {
  readonly resource: Resource
  readonly relay: Relay | null
  readonly user_access: readonly Provider[]
  readonly ingress: readonly IngressRule[]
  readonly site_to_site: readonly Tunnel[]
  readonly status: BridgeStatus
}

/** Reads a bridge with all its parts. The calls are apart: a change between two of them may show in one and not in the other. */
export async function wholeBridge(session: Session, { path }: Pick<BridgePlace, 'path'>): Promise<WholeBridge> {
  const caller = await session.caller()
  const read = async (id: string): Promise<unknown> => (await caller.call(session.operation(id), path)).value
  const list = async <T>(id: string): Promise<readonly T[]> => ((await read(id)) as { items: readonly T[] }).items
  const shown = caller.call(session.operation('GetResource'), { id: path.project_id, resource_id: path.resource_id })
  const [{ value: resource }, relay, user_access, ingress, site_to_site, status] = await Promise.all([
    shown,
    read('GetBridgeRelay').catch(noRelay),
    list<Provider>('ListBridgeUserAccessProviders'),
    list<IngressRule>('ListBridgeIngressRules'),
    list<Tunnel>('ListBridgeSiteToSiteTunnels'),
    read('GetBridgeStatus'),
  ])
  // What the contract says of 200.
  return {
    resource: resource as Resource,
    relay: relay as Relay | null,
    user_access,
    ingress,
    site_to_site,
    status: status as BridgeStatus,
  }
}

function noRelay(error: unknown): null {
  if (error instanceof ProblemAnswer && error.code === 'bridge_relay_not_found') return null
  throw error
}

/** Names of the nodes that bridges refer to, by id; the id of one that cannot be read. */
export function namesOfNodes(session: Session, bridges: readonly WholeBridge[]): Promise<(id: string) => string> {
  const known = bridges.flatMap(({ status }) => status.hosts.map(({ node_id, name }) => [node_id, name] as const))
  const ids = bridges.flatMap(({ ingress, resource }) => [
    ...resource.host_node_ids,
    ...ingress.map(({ target_node_id: id }) => id),
  ])
  return nodeNames(session, ids, new Map(known))
}
