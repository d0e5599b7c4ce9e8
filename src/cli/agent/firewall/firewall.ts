import { DIRECTIONS, type Direction } from '../../../shared/policies/rule-types.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { explained } from '../errors.ts'
import type { RunProgram } from '../system/run-program.ts'
import { setChanges, type SetChange } from './address-sets.ts'
import { DROP_COUNTERS, hasExceptGroups, planFilter, type CountedEntry, type FilterPlan } from './filter-plan.ts'
import type { FirewallView } from './firewall-view.ts'
import { createLatestOnly } from './latest-only.ts'
import { createNft, type FoundTable, type Nft } from './nft.ts'
import { removeTable } from './remove-firewall.ts'
import { tableNameOf } from './table-name.ts'
import { creation, deletion, setCommands, tableTarget, type TableTarget } from './table-target.ts'
import { createWithdrawnFlows } from './withdrawn-flows.ts'

/** What an entry of a policy has counted. Replies are not counted: they pass before the entries are looked at. */
export interface RuleCounter extends Omit<CountedEntry, 'counter'> {
  readonly packets: number
  readonly bytes: number
}

/** Whether the policies are enforced. */
export interface FirewallStatus {
  /** Why the last view is not in force, with the way out; undefined if it is. The table before it stays in force. */
  readonly fault: string | undefined
  /**
   * Whether the tunnel may carry packets. False before the first view, and while the policies isolate the node in a direction
   * in which no table in force isolates it: then peers are taken off the device.
   */
  readonly mayCarryPackets: boolean
}

/** Enforces the node's half of the policies on one interface by one nftables table. */
export interface Firewall {
  /**
   * Makes the table enforce the view; repairs it where another program removed it, so call it regularly as well. Resolves once
   * this view or a later one is in force or has failed: `status()` has the fault. Views that come meanwhile replace each other.
   */
  apply(view: FirewallView): Promise<void>
  /** The counters of the entries that are in force. @throws CliError where the table cannot be read. */
  counters(): Promise<readonly RuleCounter[]>
  /** Removes the table if the agent made it: everything passes. @throws CliError where it cannot be removed. */
  remove(): Promise<void>
  status(): FirewallStatus
}

/** What was last brought into force. */
interface InForce {
  /** Undefined where nothing isolates the node and nothing is forwarded: there is no table. */
  readonly target: TableTarget | undefined
  readonly view: FirewallView
}

/** Makes the firewall of an interface. It touches no table but its own, and reads no other one. */
export function createFirewall(options: { readonly run: RunProgram; readonly log: (line: string) => void }): Firewall {
  const { log } = options
  const nft = createNft(options.run)
  const withdrawn = createWithdrawnFlows(options)
  const latest = createLatestOnly()
  let inForce: InForce | undefined
  let interfaceName: string | undefined
  /** The directions in which the table in force isolates the node. */
  let isolated: ReadonlySet<Direction> = new Set()
  let status: FirewallStatus = { fault: undefined, mayCarryPackets: false }

  async function enforce(view: FirewallView, plan: FilterPlan): Promise<void> {
    const table = tableNameOf(view.interfaceName)
    const found = await nft.read(table)
    isolated = isolatedBy(found)
    if (found !== undefined && found.marker === undefined) throw foreignTable(table)
    const target = targetInForce(inForce, view) ?? tableTarget(view, plan)
    const changes = changesOf(inForce?.target, target, found)
    await (changes === undefined ? replace(nft, target, found) : change(nft, target, changes))
    const former = inForce?.view.peers ?? []
    inForce = { target, view }
    isolated = wantedBy(plan)
    if (mayWithdraw(plan, changes)) await withdrawn.end(view, former)
  }

  async function open(view: FirewallView): Promise<void> {
    await removeTable(nft, tableNameOf(view.interfaceName))
    inForce = { target: undefined, view }
    isolated = new Set()
  }

  function settle(plan: FilterPlan, fault: string | undefined): void {
    const wanted = wantedBy(plan)
    const mayCarryPackets = [...wanted].every((direction) => isolated.has(direction))
    const consequence = mayCarryPackets ? 'the former rules stay in force' : 'no packet may pass the mesh meanwhile'
    if (fault !== undefined && (fault !== status.fault || mayCarryPackets !== status.mayCarryPackets))
      log(`firewall: policies are not enforced, ${consequence}: ${fault}`)
    if (fault === undefined && status.fault !== undefined) log('firewall: policies are enforced again')
    status = { fault, mayCarryPackets }
  }

  async function applyNow(view: FirewallView): Promise<void> {
    ;({ interfaceName } = view)
    const plan = planFilter(view.policies)
    try {
      await (isTableNeeded(view, plan) ? enforce(view, plan) : open(view))
      settle(plan, undefined)
    } catch (error) {
      // Whatever it was, such as a full disk: the tunnel must not go on with peers that no table judges.
      settle(plan, explained(error))
    }
  }

  return {
    status: () => status,
    apply: (view) => latest(() => applyNow(view)),
    remove: () =>
      latest(async () => {
        if (interfaceName !== undefined) await removeTable(nft, tableNameOf(interfaceName))
        inForce = undefined
        isolated = new Set()
        status = { fault: undefined, mayCarryPackets: false }
      }),
    async counters() {
      const target = inForce?.target
      const found = target === undefined ? undefined : await nft.read(target.table)
      if (target === undefined || found?.marker === undefined) return []
      return target.counted.map((entry) => counterOf(entry, found))
    },
  }
}

function counterOf({ policyId, entry, direction, action, counter }: CountedEntry, found: FoundTable): RuleCounter {
  const { packets, bytes } = found.counters.get(counter) ?? NOTHING
  return { policyId, entry, direction, action, packets, bytes }
}

const NOTHING = { packets: 0, bytes: 0 }

/** A look at the rules gives the view that is in force: its table is not worked out once more. */
function targetInForce(inForce: InForce | undefined, view: FirewallView): TableTarget | undefined {
  return inForce?.view === view ? inForce.target : undefined
}

/**
 * The changes that make the table in force that of the target; undefined where it has to be replaced: its rules are others, the
 * agent did not make it since it was started, or another program changed it.
 */
function changesOf(
  former: TableTarget | undefined,
  target: TableTarget,
  found: FoundTable | undefined,
): readonly SetChange[] | undefined {
  if (former?.marker !== target.marker || found?.marker !== target.marker) return undefined
  return found.ruleCount === target.ruleCount ? setChanges(former.sets, target.sets) : undefined
}

/** Whether some flow may be no longer allowed: not where rules without exceptions only cover more peers. */
function mayWithdraw(plan: FilterPlan, changes: readonly SetChange[] | undefined): boolean {
  if (changes === undefined) return true
  return changes.some(({ removed }) => removed.length > 0) || (changes.length > 0 && hasExceptGroups(plan))
}

/** Changes sets only. */
async function change(nft: Nft, target: TableTarget, changes: readonly SetChange[]): Promise<void> {
  if (changes.length === 0) return
  try {
    await nft.commit(setCommands(target.table, changes))
  } catch (error) {
    // Another program may have changed a set: then its elements are not those that were added.
    if (!(error instanceof CliError) || error.code !== 'firewall_refused') throw error
    await replace(nft, target, await nft.read(target.table))
  }
}

/** Replaces the whole table in one transaction. Counters of equal entries go on. */
async function replace(nft: Nft, target: TableTarget, found: FoundTable | undefined): Promise<void> {
  await nft.commit([...deletion(target.table), ...creation(target, found?.counters ?? new Map())])
}

function isTableNeeded({ forwards }: FirewallView, plan: FilterPlan): boolean {
  return wantedBy(plan).size > 0 || forwards.length > 0
}

function wantedBy(plan: FilterPlan): ReadonlySet<Direction> {
  return new Set(DIRECTIONS.filter((direction) => plan[direction] !== undefined))
}

function isolatedBy(found: FoundTable | undefined): ReadonlySet<Direction> {
  if (found?.marker === undefined) return new Set()
  return new Set(DIRECTIONS.filter((direction) => found.counters.has(DROP_COUNTERS[direction])))
}

function foreignTable(table: string): CliError {
  return new CliError(`The nftables table inet ${table} belongs to another program.`, {
    exitCode: EXIT.conflict,
    code: 'firewall_foreign_table',
    hints: [`Delete it if nothing needs it: nft delete table inet ${table}; or choose another interface: --interface`],
  })
}
