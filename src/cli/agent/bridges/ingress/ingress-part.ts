import type { AgentClock } from '../../../../client/agent/agent-clock.ts'
import type { TaskTracker } from '../../../../client/agent/tasks/task-tracker.ts'
import { explained } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { startPeriodicWork } from '../../process/periodic-work.ts'
import type { RunProgram } from '../../system/run-program.ts'
import type { BridgePart } from '../bridge-part.ts'
import type { WantedIngress } from '../wanted-parts.ts'
import { shortenLog } from './background-program.ts'
import { createCaddy, type Caddy } from './caddy.ts'
import { bridgeOf, readRule, type CheckedRule } from './checked-rule.ts'
import { claimNames, type Claims } from './claimed-names.ts'
import { createHaproxy, type Haproxy, type HaproxyConfig } from './haproxy.ts'
import { haproxyUser } from './haproxy-user.ts'
import { makeFolders, type IngressPlace } from './ingress-place.ts'
import { planIngress, type IngressPlan, type PlanFacts } from './ingress-plan.ts'
import { TLS_BACKEND } from './haproxy-config.ts'
import { ingressRows, type IngressRow } from './ingress-rows.ts'
import { createKnownBridges } from './known-bridges.ts'
import { createMissingCertificates } from './missing-certificates.ts'
import { assertFree, bindArguments, type ListenAddress } from './listen-address.ts'
import { removeIngress } from './remove-ingress.ts'

/** What ingress needs of the agent. */
export interface IngressDeps {
  readonly place: IngressPlace
  readonly listen: ListenAddress
  /** For Caddy, such as SSL_CERT_FILE. */
  readonly environment: Readonly<Record<string, string>>
  readonly run: RunProgram
  readonly log: Log
  readonly clock: AgentClock
  readonly tasks: TaskTracker
  readonly until: AbortSignal
  /** The mesh address of this node. */
  readonly ownAddress: () => string
  /** That of any node, this one included; undefined where it is no peer. */
  readonly addressOf: (nodeId: string) => string | undefined
  /** Resolves once `addressOf` has the peers of the last pull. */
  readonly peersSettled: () => Promise<void>
}

/** The ingress of the bridges that this machine hosts. */
export interface IngressPart extends BridgePart<readonly WantedIngress[]> {
  /** The rules in force. */
  rows(): Promise<readonly IngressRow[]>
}

const LOOK_MS = 2_000

interface Programs {
  readonly haproxy: Haproxy
  readonly caddy: Caddy
}

/** Makes the ingress of a machine that hosts no bridge yet. Programs of an earlier agent go on until the first change. */
export function createIngressPart(deps: IngressDeps): IngressPart {
  const { place, listen, environment, run, log } = deps
  const known = createKnownBridges()
  const mayCut = (backend: string): boolean =>
    backend === TLS_BACKEND ? known.areAllKnown() : known.isKnown(bridgeOf(backend))
  const programs: Programs = {
    haproxy: createHaproxy({ place, run, log, mayCut, assertFree: () => assertFree(listen) }),
    caddy: createCaddy({ place, log, environment }),
  }
  const missing = createMissingCertificates(place, () => deps.clock.now())
  const bridges = new Map<string, readonly CheckedRule[]>()
  let last: Promise<unknown> = Promise.resolve()
  let fault: string | undefined
  let isWatching = false
  let isClean = false
  let setup: Pick<PlanFacts, 'bind' | 'port' | 'user'> | undefined

  function serially<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  /** Once, since it looks through the processes of the machine, and not before what these may serve is known. */
  async function clean(): Promise<void> {
    if (isClean || !known.areAllKnown()) return
    await removeIngress(place)
    isClean = true
  }

  async function bring(): Promise<void> {
    if (bridges.size === 0) return clean()
    isClean = false
    await makeFolders(place)
    setup ??= { bind: await bindArguments(listen), port: listen.port, user: await haproxyUser() }
    const facts = { ...setup, place, ownAddress: deps.ownAddress(), addressOf: deps.addressOf }
    await bringPlan(programs, planIngress(bridges, facts))
  }

  async function look(): Promise<void> {
    if (bridges.size === 0) return
    for (const file of [place.haproxyLog, place.caddyLog]) shortenLog(file)
    try {
      await bring()
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
    set(bridgeId, rules)
    known.applied(bridgeId)
    try {
      await bring()
      fault = undefined
    } catch (error) {
      set(bridgeId, before ?? [])
      return explained(error)
    }
    watch()
    return undefined
  }

  function set(bridgeId: string, rules: readonly CheckedRule[]): void {
    if (rules.length === 0) bridges.delete(bridgeId)
    else bridges.set(bridgeId, rules)
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
        if (gone.length > 0 || bridgeIds.size === 0) await bring()
      }),
    faults: () => [...faultsOf(claimNames(bridges), deps, fault), ...missing.faults()],
    forwards: () => [],
    rows: () => ingressRows(claimNames(bridges).inForce, { place, addressOf: deps.addressOf }),
    close: (mode) =>
      serially(async () => {
        const wasRunning = bridges.size > 0
        bridges.clear()
        if (mode === 'remove') await removeIngress(place)
        else if (wasRunning) log.line('ingress: haproxy and caddy go on without the agent')
      }),
  }
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

/**
 * HAProxy has its port before Caddy gets a site: Caddy would open it for a challenge where it is free. Where Caddy fails, HAProxy
 * goes back to what it ran before.
 */
async function bringPlan({ haproxy, caddy }: Programs, plan: IngressPlan): Promise<void> {
  if (plan.caddy !== undefined) await caddy.prepare(plan.caddy)
  const before = await haproxy.running()
  await haproxy.apply(plan.haproxy)
  try {
    await (plan.caddy === undefined ? caddy.end() : caddy.apply(plan.caddy))
  } catch (error) {
    await goBack(haproxy, before, plan.haproxy)
    throw error
  }
}

async function goBack(haproxy: Haproxy, before: HaproxyConfig | undefined, failed: HaproxyConfig): Promise<void> {
  if (before?.digest === failed.digest) return
  await (before === undefined || before.text === '' ? haproxy.end() : haproxy.apply(before))
}

function faultsOf({ inForce, shadowed }: Claims, { addressOf }: IngressDeps, fault: string | undefined) {
  return [
    ...(fault === undefined ? [] : [`ingress: ${fault}`]),
    ...shadowed.map(({ rule, by }) => `ingress ${rule.slug}: bridge ${by.bridgeId} has the name ${rule.host}`),
    ...inForce
      .filter(({ nodeId }) => addressOf(nodeId) === undefined)
      .map(({ slug, nodeId }) => `ingress ${slug}: its target ${nodeId} is no peer of this host`),
  ]
}
