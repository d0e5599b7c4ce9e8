import type { AgentClock } from '../../../../client/agent/agent-clock.ts'
import type { TaskTracker } from '../../../../client/agent/tasks/task-tracker.ts'
import { explained } from '../../errors.ts'
import { startPeriodicWork } from '../../process/periodic-work.ts'
import type { BridgePart } from '../bridge-part.ts'
import type { WantedIngress } from '../wanted-parts.ts'
import { readRule, type CheckedRule } from './checked-rule.ts'
import { claimNames, type Claims } from './claimed-names.ts'
import { createIngressPrograms, type ProgramsDeps } from './ingress-programs.ts'
import { ingressRows, type IngressRow } from './ingress-rows.ts'
import { createKnownBridges } from './known-bridges.ts'
import { createMissingCertificates } from './missing-certificates.ts'
import { removeIngress } from './remove-ingress.ts'

/** What ingress needs of the agent. */
export interface IngressDeps extends ProgramsDeps {
  readonly clock: AgentClock
  readonly tasks: TaskTracker
  readonly until: AbortSignal
  /** Resolves once `addressOf` has the peers of the last pull. */
  readonly peersSettled: () => Promise<void>
}

/** The ingress of the bridges that this machine hosts. */
export interface IngressPart extends BridgePart<readonly WantedIngress[]> {
  /** The rules in force. */
  rows(): Promise<readonly IngressRow[]>
}

const LOOK_MS = 2_000

/** Makes the ingress of a machine that hosts no bridge yet. Programs of an earlier agent go on until the first change. */
export function createIngressPart(deps: IngressDeps): IngressPart {
  const { place, log } = deps
  const known = createKnownBridges()
  const programs = createIngressPrograms(deps, known)
  const missing = createMissingCertificates(place, () => deps.clock.now())
  const bridges = new Map<string, readonly CheckedRule[]>()
  let last: Promise<unknown> = Promise.resolve()
  let fault: string | undefined
  let isWatching = false
  let isClosed = false

  function serially<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  async function look(): Promise<void> {
    // The programs go on without the agent: without its bridges they would be ended.
    if (isClosed) return
    try {
      await programs.bring(bridges)
      await missing.look(claimNames(bridges).inForce)
      fault = undefined
    } catch (error) {
      fault = explained(error)
      throw error
    }
  }

  function watch(): void {
    if (isWatching) return
    isWatching = true
    void startPeriodicWork(deps, { name: 'ingress', everyMs: () => LOOK_MS, work: () => serially(look) })
  }

  async function take(bridgeId: string, rules: readonly CheckedRule[]): Promise<string | undefined> {
    const before = bridges.get(bridgeId)
    put(bridges, bridgeId, rules)
    known.applied(bridgeId)
    try {
      await programs.bring(bridges)
      fault = undefined
    } catch (error) {
      put(bridges, bridgeId, before ?? [])
      if (before === undefined) known.failed(bridgeId)
      return explained(error)
    }
    watch()
    return undefined
  }

  return {
    apply: (bridgeId, wanted) =>
      serially(async () => {
        const rules = readRules(bridgeId, wanted)
        if (typeof rules === 'string') return rules
        const taken = conflictOf(claimNames(new Map([...bridges, [bridgeId, rules]])), bridgeId)
        if (taken !== undefined) return taken
        if (rules.length > 0) await deps.peersSettled()
        return take(bridgeId, rules)
      }),
    keepOnly: (bridgeIds) =>
      serially(async () => {
        known.pulled(bridgeIds)
        const gone = [...bridges.keys()].filter((id) => !bridgeIds.has(id))
        for (const id of gone) bridges.delete(id)
        if (gone.length === 0 && bridges.size > 0) return
        await programs.bring(bridges)
        fault = undefined
      }),
    faults() {
      const own = [...programs.faults(), ...(fault === undefined ? [] : [fault])]
      return [...faultsOf(claimNames(bridges), deps, own), ...missing.faults()]
    },
    forwards: () => [],
    rows: () => ingressRows(claimNames(bridges).inForce, { place, addressOf: deps.addressOf }),
    close: (mode) =>
      serially(async () => {
        isClosed = true
        const wasRunning = bridges.size > 0
        bridges.clear()
        await programs.stopWatching()
        if (mode === 'remove') await removeIngress(place)
        else if (wasRunning) log.line('ingress: haproxy and caddy go on without the agent')
      }),
  }
}

function put(bridges: Map<string, readonly CheckedRule[]>, bridgeId: string, rules: readonly CheckedRule[]): void {
  if (rules.length === 0) bridges.delete(bridgeId)
  else bridges.set(bridgeId, rules)
}

function readRules(bridgeId: string, wanted: readonly WantedIngress[]): readonly CheckedRule[] | string {
  const rules: CheckedRule[] = []
  for (const each of wanted) {
    const read = readRule(bridgeId, each)
    if (!read.ok) return read.why
    rules.push(read.rule)
  }
  return rules
}

/** Why a bridge is refused: one with a lower id has a name of it. */
function conflictOf({ shadowed }: Claims, bridgeId: string): string | undefined {
  const own = shadowed.find(({ rule }) => rule.bridgeId === bridgeId)
  return own && `rule ${own.rule.slug}: bridge ${own.by.bridgeId} has the name ${own.rule.host} on this host already`
}

function faultsOf({ inForce, shadowed }: Claims, { addressOf }: IngressDeps, ofPrograms: readonly string[]) {
  return [
    ...[...new Set(ofPrograms)].map((fault) => `ingress: ${fault}`),
    ...shadowed.map(({ rule, by }) => `ingress ${rule.slug}: bridge ${by.bridgeId} has the name ${rule.host}`),
    ...inForce
      .filter(({ nodeId }) => addressOf(nodeId) === undefined)
      .map(({ slug, nodeId }) => `ingress ${slug}: its target ${nodeId} is no peer of this host`),
  ]
}
