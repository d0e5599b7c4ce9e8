import type { AgentDeps } from '../../client/agent/agent-deps.ts'
import { attempt } from '../../client/agent/calls/attempt.ts'
import type { Outcome } from '../../client/agent/calls/outcome.ts'
import { sendReport } from '../../client/agent/calls/deferred-reports.ts'
import type { AgentCore } from './agent-core.ts'
import type { DeclaredHook } from './executions/hooks.ts'
import { sshFingerprint } from './reports.ts'

/** What the node can do, as its server knows it. */
export interface Capabilities {
  /** Reports program, architecture, SSH host key and hooks, unless the server has them so. */
  report(): Promise<void>
  /** The hooks of the last report that was accepted: only these are run. */
  declared(): readonly DeclaredHook[]
}

type Body = Parameters<AgentDeps['client']['PutNodeCapabilities']>[0]['body']

/** As releases name them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

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
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
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
      if (JSON.stringify(body) === JSON.stringify(accepted)) return
      await sendReport(deps, member, { name: 'capabilities', send: () => put(body) })
    },
    declared: () => accepted?.hooks ?? [],
  }
}
