import { isNonZeroUuid } from '../../../shared/ids.ts'
import type { EntryRef } from '../../../shared/policies/prepare-policies.ts'
import type { Direction } from '../../../shared/policies/rule-types.ts'
import { acceptRules } from './accept-rules.ts'
import type { AddressFamily } from './address-sets.ts'
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

export interface ChainOptions {
  readonly interfaceName: string
  readonly plan: FilterPlan
  readonly meshFamilies: readonly AddressFamily[]
}

const TCP_FLAGS: NftValue = { '&': [payload('tcp', 'flags'), ['fin', 'syn', 'rst', 'ack']] }

/** The rules of the chain of a direction; none where neither direction is isolated. */
export function chainRules(direction: Direction, options: ChainOptions): readonly CommentedRule[] {
  const { interfaceName, plan } = options
  const { interfaceKey, other } = CHAINS[direction]
  const side = plan[direction]
  if (side === undefined && plan[other] === undefined) return []
  return [
    { statements: [differs(meta(interfaceKey), interfaceName), ACCEPT], comment: 'not of the mesh' },
    ...(side === undefined ? [] : REPLIES),
    ...(plan[other] === undefined ? [] : [midStream(other)]),
    ...(side === undefined ? [] : isolatedRules(side, options)),
  ]
}

/** Replies, and ICMP errors about flows that were let pass in either direction. */
const REPLIES: readonly CommentedRule[] = [
  {
    statements: [equals({ ct: { key: 'direction' } }, 'reply'), hasState('established', 'related'), ACCEPT],
    comment: 'replies',
  },
  {
    statements: [hasState('related'), equals(meta('l4proto'), oneOf(['icmp', 'ipv6-icmp'])), ACCEPT],
    comment: 'errors about flows',
  },
]

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

function isolatedRules(
  { accepts, isolatedBy }: IsolatedSide,
  { meshFamilies }: ChainOptions,
): readonly CommentedRule[] {
  return [
    ...accepts.flatMap((planned) =>
      acceptRules(planned, meshFamilies).map((statements) => ({
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
