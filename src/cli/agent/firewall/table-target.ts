import { DIRECTIONS } from '../../../shared/policies/rule-types.ts'
import {
  addressSetsOf,
  FAMILIES,
  familiesOf,
  networkFamiliesOf,
  type AddressSets,
  type SetChange,
} from './address-sets.ts'
import { CHAIN_PRIORITY, chainRules, CHAINS, type CommentedRule } from './chain-rules.ts'
import { countedEntries, groupsOf, shortHash, type CountedEntry, type FilterPlan } from './filter-plan.ts'
import type { FirewallView } from './firewall-view.ts'
import { forwardChains } from './forward-rules.ts'
import type { NftCommand, NftValue } from './nft-json.ts'
import { tableNameOf } from './table-name.ts'

/** A table with this counter belongs to the agent. What follows is the hash of its rules, without the addresses of sets. */
export const MARKER_PREFIX = 'ctl_agent_'

/** The table that enforces a view. */
export interface TableTarget {
  readonly table: string
  /** The name of its marker: equal for tables that differ only in the addresses of sets. */
  readonly marker: string
  readonly sets: AddressSets
  readonly counted: readonly CountedEntry[]
  readonly chains: readonly TargetChain[]
  readonly ruleCount: number
}

interface TargetChain {
  readonly chain: string
  readonly hook: string
  readonly rules: readonly CommentedRule[]
}

/** What a counter has counted. */
export interface CounterValue {
  readonly packets: number
  readonly bytes: number
}

/** Makes the table of a view whose policies isolate the node in at least one direction, or that has something to forward. */
export function tableTarget(view: FirewallView, plan: FilterPlan): TableTarget {
  const { interfaceName, ownAddress, peers, forwards } = view
  const table = tableNameOf(interfaceName)
  const sets = addressSetsOf(peers, groupsOf(plan))
  const families = { meshFamilies: familiesOf(peers), networkFamilies: networkFamiliesOf(peers) }
  const policyChains = DIRECTIONS.map((direction) => ({
    chain: CHAINS[direction].chain,
    hook: CHAINS[direction].hook,
    rules: chainRules(direction, {
      interfaceName,
      ownAddress,
      passages: forwards.map((one) => one.interfaceName),
      plan,
      ...families,
    }),
  }))
  const chains = [...policyChains, ...forwardChains(interfaceName, forwards)].filter(({ rules }) => rules.length > 0)
  const marker = `${MARKER_PREFIX}${shortHash({ chains, sets: [...sets.keys()].toSorted() })}`
  const ruleCount = chains.reduce((count, { rules }) => count + rules.length, 0)
  return { table, marker, sets, counted: countedEntries(plan), chains, ruleCount }
}

/** Deletes the table. In one transaction with `creation` it is replaced: no packet meets a part of it. */
export function deletion(table: string): readonly NftCommand[] {
  const named = { table: { family: 'inet', name: table } }
  // Adding first lets the deletion succeed where there is no such table.
  return [{ add: named }, { delete: named }]
}

/** Creates the table. Counters begin where those of the same name stand. */
export function creation(target: TableTarget, counted: ReadonlyMap<string, CounterValue>): readonly NftCommand[] {
  const place = { family: 'inet', table: target.table }
  const counters = [target.marker, ...new Set(target.counted.map(({ counter }) => counter))]
  return [
    { add: { table: { family: 'inet', name: target.table } } },
    ...counters.map((name) => ({ add: { counter: { ...place, name, ...(counted.get(name) ?? ZERO) } } })),
    ...[...target.sets].map(([name, addresses]) => ({ add: { set: setOf({ ...place, name }, addresses) } })),
    ...target.chains.flatMap(({ chain, hook, rules }) => [
      {
        add: { chain: { ...place, name: chain, type: 'filter', hook, prio: CHAIN_PRIORITY, policy: 'accept' } },
      },
      ...rules.map((rule) => ({ add: { rule: ruleOf({ ...place, chain }, rule) } })),
    ]),
  ]
}

const ZERO: CounterValue = { packets: 0, bytes: 0 }

/** Changes the addresses of sets. */
export function setCommands(table: string, changes: readonly SetChange[]): readonly NftCommand[] {
  return changes.flatMap(({ name, added, removed }) => {
    const element = (texts: readonly string[]) => ({
      element: { family: 'inet', table, name, elem: texts.map(elementOf) },
    })
    return [
      ...(removed.length === 0 ? [] : [{ delete: element(removed) }]),
      ...(added.length === 0 ? [] : [{ add: element(added) }]),
    ]
  })
}

interface NamedPlace {
  readonly [member: string]: string
  readonly name: string
}

function setOf(place: NamedPlace, addresses: ReadonlySet<string>): NftValue {
  const networks = FAMILIES.find(({ networkPrefix }) => place.name.startsWith(networkPrefix))
  const family = networks ?? FAMILIES.find(({ prefix }) => place.name.startsWith(prefix)) ?? FAMILIES[0]
  const set = { ...place, type: family.type, ...(networks === undefined ? {} : { flags: ['interval'] }) }
  // nft takes an empty list of elements for a mistake.
  return addresses.size === 0 ? set : { ...set, elem: [...addresses].map(elementOf) }
}

/** An address, or a network `address/prefix length`. */
function elementOf(text: string): NftValue {
  const [addr = '', length] = text.split('/')
  return length === undefined ? addr : { prefix: { addr, len: Number(length) } }
}

function ruleOf(place: Readonly<Record<string, string>>, { statements, comment }: CommentedRule): NftValue {
  return { ...place, expr: statements, ...(comment === undefined ? {} : { comment }) }
}
