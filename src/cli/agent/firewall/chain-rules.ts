import { isNonZeroUuid } from '../../../shared/ids.ts'
import type { EntryRef } from '../../../shared/policies/prepare-policies.ts'
import type { Direction } from '../../../shared/policies/rule-types.ts'
import { acceptRules, type FamiliesOfSets } from './accept-rules.ts'
import { DROP_COUNTERS, type FilterPlan, type IsolatedSide } from './filter-plan.ts'
import {
  ACCEPT,
  countedBy,
  differs,
  DROP,
  equals,
  hasState,
  meta,
  oneOf,
  payload,
  type NftRule,
  type NftValue,
} from './nft-json.ts'

/**
 * A chain of the table. Packets are judged once each way, also those that the node forwards: before the destination is
 * translated, as the sender meant it, and after it is translated, as the receiver sees it. The priority (`mangle`) is after
 * connection tracking (-200) on both hooks, before `dstnat` (-100) on the first and before `srcnat` (100) on the second.
 */
export interface ChainPlace {
  readonly chain: string
  readonly hook: 'prerouting' | 'postrouting'
  /** What has the name of the interface that the packet crosses. */
  readonly interfaceKey: 'iifname' | 'oifname'
  readonly other: Direction
}

export const CHAINS: Readonly<Record<Direction, ChainPlace>> = {
  ingress: { chain: 'from_mesh', hook: 'prerouting', interfaceKey: 'iifname', other: 'egress' },
  egress: { chain: 'to_mesh', hook: 'postrouting', interfaceKey: 'oifname', other: 'ingress' },
}
export const CHAIN_PRIORITY = -150

/** A rule with a comment for people who list the table. */
export interface CommentedRule {
  readonly statements: NftRule
  readonly comment?: string
}

export interface ChainOptions extends FamiliesOfSets {
  readonly interfaceName: string
  /** The node's own mesh address; undefined: any interface may lead to it. */
  readonly ownAddress: string | undefined
  /** Other interfaces by which its mesh address is reached: those of bridges. */
  readonly passages: readonly string[]
  readonly plan: FilterPlan
}

/** The flags of TCP that tell the beginning of a connection from the rest of it. */
export const TCP_FLAGS: NftValue = { '&': [payload('tcp', 'flags'), ['fin', 'syn', 'rst', 'ack']] }

/** The rules of the chain of a direction; none where neither direction is isolated. */
export function chainRules(direction: Direction, options: ChainOptions): readonly CommentedRule[] {
  const { interfaceName, plan } = options
  const { interfaceKey, other } = CHAINS[direction]
  const side = plan[direction]
  if (side === undefined && plan[other] === undefined) return []
  return [
    ...(direction === 'ingress' ? pastTheMesh(options) : []),
    { statements: [differs(meta(interfaceKey), interfaceName), ACCEPT], comment: 'not of the mesh' },
    ...(side === undefined ? [] : [REPLIES, ERRORS_ABOUT_FLOWS]),
    ...(plan[other] === undefined ? [] : [midStream(other)]),
    ...(side === undefined ? [] : isolatedRules(side, options)),
  ]
}

/**
 * Linux takes packets to any address of the machine on each of its interfaces, so that a neighbour on another network could reach the
 * mesh address, and what listens there, past the policies.
 */
function pastTheMesh({ ownAddress, interfaceName, passages }: ChainOptions): readonly CommentedRule[] {
  if (ownAddress === undefined) return []
  const elsewhere = [interfaceName, 'lo', ...passages].map((name) => differs(meta('iifname'), name))
  const statements = [...elsewhere, equals(payload('ip', 'daddr'), ownAddress), DROP]
  return [{ statements, comment: 'past the mesh' }]
}

/** Replies of flows whose first packet was let pass. */
export const REPLIES: Required<CommentedRule> = {
  statements: [equals({ ct: { key: 'direction' } }, 'reply'), hasState('established', 'related'), ACCEPT],
  comment: 'replies',
}

/** ICMP errors about flows that were let pass in either direction. */
export const ERRORS_ABOUT_FLOWS: Required<CommentedRule> = {
  statements: [hasState('related'), equals(meta('l4proto'), oneOf(['icmp', 'ipv6-icmp'])), ACCEPT],
  comment: 'errors about flows',
}

/**
 * Connection tracking takes the first packet that it sees of a TCP connection for its beginning. Without its entry, as after a
 * withdrawal, a connection would turn around: packets of the other direction would pass as replies. Only a packet with SYN
 * alone begins a connection.
 */
function midStream(other: Direction): CommentedRule {
  return {
    statements: [hasState('new'), differs(TCP_FLAGS, 'syn'), countedBy(DROP_COUNTERS[other]), DROP],
    comment: 'unknown open connections',
  }
}

function isolatedRules({ accepts, isolatedBy }: IsolatedSide, families: FamiliesOfSets): readonly CommentedRule[] {
  return [
    ...accepts.flatMap((planned) =>
      acceptRules(planned, families).map((statements) => ({
        statements,
        ...commentOf(planned),
      })),
    ),
    { statements: [countedBy(isolatedBy.counter), DROP] },
  ]
}

/** Only an id of the known form becomes a part of the table. */
function commentOf({ policyId, entry }: EntryRef): { readonly comment?: string } {
  return isNonZeroUuid(policyId) ? { comment: `policy ${policyId}, entry ${entry}` } : {}
}
