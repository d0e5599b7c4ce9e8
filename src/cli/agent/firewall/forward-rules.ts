import type { Forward } from './firewall-view.ts'
import { networksOf, prefixes } from './accept-rules.ts'
import { FAMILIES } from './address-sets.ts'
import { ERRORS_ABOUT_FLOWS, REPLIES, TCP_FLAGS, type CommentedRule } from './chain-rules.ts'
import {
  ACCEPT,
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
import { checkedInterface } from './table-name.ts'

/** A chain of the rules for what this machine forwards. Policies are judged apart from it, on the mesh's interface. */
export interface ForwardChain {
  readonly chain: string
  readonly hook: 'prerouting' | 'forward' | 'postrouting'
  readonly rules: readonly CommentedRule[]
}

/**
 * The rules for interfaces that lead out of the mesh; none where there are no such interfaces. Who may begin a connection is judged
 * on the interface itself, so that it holds for this machine as for what it forwards. Packets that concern none of these interfaces
 * and do not come from the mesh pass.
 */
export function forwardChains(meshInterface: string, forwards: readonly Forward[]): readonly ForwardChain[] {
  if (forwards.length === 0) return []
  const names = oneOf(forwards.map(({ interfaceName }) => checkedInterface(interfaceName)))
  return [
    { chain: 'from_outside', hook: 'prerouting', rules: [notOf('iifname', names), ...forwards.flatMap(fromOutside)] },
    { chain: 'to_outside', hook: 'postrouting', rules: [notOf('oifname', names), ...forwards.flatMap(toOutside)] },
    { chain: 'across', hook: 'forward', rules: across(meshInterface, names) },
  ]
}

function notOf(key: string, names: NftValue): CommentedRule {
  return { statements: [differs(meta(key), names), ACCEPT], comment: 'not of a bridge' }
}

function fromOutside({ interfaceName, subnets, initiators }: Forward): readonly CommentedRule[] {
  const here = equals(meta('iifname'), interfaceName)
  return [...FAMILIES.map((family) => foreignSource(here, subnets, family)), ...directed(here, initiators, 'mesh')]
}

function toOutside({ interfaceName, initiators }: Forward): readonly CommentedRule[] {
  return directed(equals(meta('oifname'), interfaceName), initiators, 'outside')
}

/** Drops what comes from an address that is not behind the interface. */
function foreignSource(here: NftValue, subnets: Forward['subnets'], family: (typeof FAMILIES)[number]): CommentedRule {
  const networks = networksOf(subnets, family)
  const source =
    networks.length === 0
      ? equals(meta('nfproto'), family.family)
      : differs(payload(family.protocol, 'saddr'), prefixes(networks))
  return { statements: [here, source, DROP], comment: 'a source that is not behind it' }
}

/** Where only `alone` may begin connections, packets of the other direction pass as replies alone. */
function directed(
  here: NftValue,
  initiators: Forward['initiators'],
  alone: Forward['initiators'],
): readonly CommentedRule[] {
  if (initiators === 'both') return []
  // Connection tracking may have lost the entry of an open connection, which would turn around then.
  const midStream = rule([here, hasState('new'), differs(TCP_FLAGS, 'syn'), DROP], 'unknown open connections')
  if (initiators !== alone) return [midStream]
  return [
    ...[REPLIES, ERRORS_ABOUT_FLOWS].map(({ statements, comment }) => ({ statements: [here, ...statements], comment })),
    rule([here, DROP], 'only the other side begins'),
  ]
}

/**
 * What may cross this machine. From the mesh only bridges are reached, and what the machine itself translates: published ports of
 * containers, and replies to them. Else the forwarding that a bridge needs would open the machine's other networks to the mesh.
 */
function across(mesh: string, names: NftValue): readonly CommentedRule[] {
  const [from, to] = [equals(meta('iifname'), mesh), equals(meta('oifname'), mesh)]
  const [fromOut, toOut] = [equals(meta('iifname'), names), equals(meta('oifname'), names)]
  const isTranslated: NftValue = { match: { op: 'in', left: { ct: { key: 'status' } }, right: 'dnat' } }
  return [
    rule([from, toOut, ACCEPT], 'from the mesh to a bridge'),
    rule([fromOut, to, ACCEPT], 'from a bridge to the mesh'),
    rule([fromOut, DROP], 'bridges lead to the mesh alone'),
    rule([toOut, DROP], 'bridges lead to the mesh alone'),
    { statements: [from, ...REPLIES.statements], comment: 'replies' },
    rule([from, isTranslated, ACCEPT], 'published ports'),
    rule([from, DROP], 'no way through this machine'),
  ]
}

function rule(statements: NftRule, comment: string): CommentedRule {
  return { statements, comment }
}
