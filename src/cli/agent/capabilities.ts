import type { AgentDeps } from '../../client/agent/agent-deps.ts'
import { attempt } from '../../client/agent/calls/attempt.ts'
import type { Outcome } from '../../client/agent/calls/outcome.ts'
import { sendReport } from '../../client/agent/calls/deferred-reports.ts'
import type { AgentCore } from './agent-core.ts'
import type { DeclaredHook } from './executions/hooks.ts'
import type { PeriodicWork } from './process/periodic-work.ts'
import { sshFingerprint } from './reports.ts'

/** What the node can do, as its server knows it. */
export interface Capabilities {
  /** Reports program, architecture, SSH host key and hooks, unless the server has them. False: it did not take them. */
  report(): Promise<boolean>
  /** The hooks of the last report that was accepted: only these are run. */
  declared(): readonly DeclaredHook[]
}

type Body = Parameters<AgentDeps['client']['PutNodeCapabilities']>[0]['body']

/** As releases name them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** The architecture of this machine, as releases name it. */
export function machineArchitecture(): string {
  return ARCHITECTURES[process.arch] ?? process.arch
}

/** Makes the capabilities of a node that has reported none since its agent was started. */
export function createCapabilities(core: AgentCore, deps: AgentDeps): Capabilities {
  const { member, log } = core
  let accepted: Body | undefined

  async function present(): Promise<Body> {
    const [binary, fingerprint, { hooks, refused }] = await Promise.all([
      core.binary(),
      sshFingerprint(),
      core.hooks.list(),
    ])
    for (const why of refused) log.line(`hooks: ${why}`)
    return {
      binary_version: binary.version,
      binary_checksum: binary.checksum,
      architecture: machineArchitecture(),
      ...(fingerprint !== undefined && { ssh_host_key_fingerprint: fingerprint }),
      hooks: [...hooks],
    }
  }

  async function put(body: Body): Promise<Outcome<unknown>> {
    const outcome = await attempt(deps, member, {
      operation: 'capabilities',
      isRepeatable: true,
      isDeferred: true,
      call: (token) => deps.client.PutNodeCapabilities({ id: member.identity.node_id, body }, { token }),
    })
    if (outcome.ok) accepted = body
    return outcome
  }

  return {
    async report() {
      const body = await present()
      if (JSON.stringify(body) === JSON.stringify(accepted)) return true
      return sendReport(deps, member, { name: 'capabilities', send: () => put(body) })
    },
    declared: () => accepted?.hooks ?? [],
  }
}

/** The binary and the hooks are looked at so often. */
const EVERY_MS = 3_600_000
/** The first pause after a report that the server did not take; then twice as long each time. */
const AGAIN_MS = 30_000

/** Reports the capabilities as the agent starts and whenever they have changed. */
export function capabilitiesWork({ report }: Pick<Capabilities, 'report'>): PeriodicWork {
  let [pauseMs, againMs] = [EVERY_MS, AGAIN_MS]
  return {
    name: 'capabilities',
    everyMs: () => pauseMs,
    async work() {
      // What holds where the report fails.
      ;[pauseMs, againMs] = [againMs, Math.min(2 * againMs, EVERY_MS)]
      if (await report()) [pauseMs, againMs] = [EVERY_MS, AGAIN_MS]
    },
  }
}
