import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { resources } from '../../../shared/contract/resources.ts'

type Operations = (typeof bridge)['operations']

/** Answers of the API about a bridge and its parts. */
export type Resource = Result<(typeof resources)['operations']['GetResource']>
export type Relay = Result<Operations['GetBridgeRelay']>
export type Provider = Result<Operations['GetBridgeUserAccessProvider']>
export type UserAccessPeers = Result<Operations['ListBridgeUserAccessPeers']>
export type Peer = UserAccessPeers['items'][number]
export type IngressRule = Result<Operations['GetBridgeIngressRule']>
export type Tunnel = Result<Operations['GetBridgeSiteToSiteTunnel']>
export type BridgeStatus = Result<Operations['GetBridgeStatus']>
export type HostStatus = BridgeStatus['hosts'][number]
export type BridgeCheck = Result<Operations['CheckBridge']>
export type Conflict = BridgeCheck['conflicts'][number]
