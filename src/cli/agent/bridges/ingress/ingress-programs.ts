import type { Log } from '../../log.ts'
import type { RunProgram } from '../../system/run-program.ts'
import { createCaddy, type Caddy } from './caddy.ts'
import { bridgeOf } from './checked-rule.ts'
import type { RulesByBridge } from './claimed-names.ts'
import { createHaproxy, type Haproxy, type HaproxyConfig } from './haproxy.ts'
import { TLS_BACKEND } from './haproxy-config.ts'
import { haproxyUser } from './haproxy-user.ts'
import { makeFolders, type IngressPlace } from './ingress-place.ts'
import { planIngress, type IngressPlan, type PlanFacts } from './ingress-plan.ts'
import type { KnownBridges } from './known-bridges.ts'
import { assertFree, bindArguments, type ListenAddress } from './listen-address.ts'
import { removeIngress } from './remove-ingress.ts'

/** HAProxy and Caddy of this machine. */
export interface IngressPrograms {
  /** Runs what these rules need, and nothing where it runs already. @throws CliError where it cannot; what ran before goes on. */
  bring(bridges: RulesByBridge): Promise<void>
  /** Why one of them does not run now. */
  faults(): readonly string[]
  /** Nothing is started any more. The processes stay. */
  stopWatching(): Promise<void>
}

/** What the programs need. */
export interface ProgramsDeps {
  readonly place: IngressPlace
  readonly listen: ListenAddress
  /** For Caddy, such as SSL_CERT_FILE. */
  readonly environment: Readonly<Record<string, string>>
  readonly run: RunProgram
  readonly log: Log
  /** The mesh address of this node. */
  readonly ownAddress: () => string
  /** That of any node, this one included; undefined where it is no peer. */
  readonly addressOf: (nodeId: string) => string | undefined
}

interface Programs {
  readonly haproxy: Haproxy
  readonly caddy: Caddy
}

/** Makes the programs. Those of an earlier agent go on until the first change. */
export function createIngressPrograms(deps: ProgramsDeps, known: KnownBridges): IngressPrograms {
  const { place, listen, ownAddress, addressOf } = deps
  const programs = programsOf(deps, known)
  let isClean = false
  /** Whether this agent has configured them: they serve nothing then that it does not know. */
  let isOurs = false
  let setup: Pick<PlanFacts, 'bind' | 'port' | 'user'> | undefined

  async function stopWatching(): Promise<void> {
    await programs.haproxy.stopWatching()
    await programs.caddy.stopWatching()
  }

  /** Once, since it looks through the processes of the machine. */
  async function clean(): Promise<void> {
    if (isClean) return
    await stopWatching()
    await removeIngress(place)
    isClean = true
    isOurs = false
  }

  return {
    async bring(bridges) {
      if (bridges.size === 0 && known.areAllKnown()) return clean()
      // What they serve may be of a bridge that is not applied yet.
      if (bridges.size === 0 && !isOurs) return
      isClean = false
      await makeFolders(place)
      setup ??= { bind: await bindArguments(listen), port: listen.port, user: await haproxyUser() }
      await bringPlan(programs, planIngress(bridges, { ...setup, place, ownAddress: ownAddress(), addressOf }))
      isOurs = true
    },
    faults: () => [programs.haproxy.fault(), programs.caddy.fault()].filter((fault) => fault !== undefined),
    stopWatching,
  }
}

function programsOf({ place, listen, environment, run, log }: ProgramsDeps, known: KnownBridges): Programs {
  return {
    haproxy: createHaproxy({
      place,
      run,
      log,
      mayCut: (backend) => (backend === TLS_BACKEND ? known.areAllKnown() : known.isKnown(bridgeOf(backend))),
      assertFree: () => assertFree(listen),
    }),
    caddy: createCaddy({ place, log, environment, mayEnd: () => known.areAllKnown() }),
  }
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
