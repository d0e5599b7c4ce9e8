import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { AgentCore } from '../agent-core.ts'
import type { Capabilities } from '../capabilities.ts'
import { reasonOf } from '../errors.ts'
import type { ExecutionDeps } from './executions-once.ts'
import type { HookViolation } from './hooks.ts'

/** A violation is reported again after this time while it lasts (agent protocol: Integrity). */
const AGAIN_MS = 60_000

/** Makes what runs hooks, and reports one that differs from the declared one for as long as it does. */
export function createHookRunner(
  { hooks, member, tasks, log, clock }: Pick<AgentCore, 'hooks' | 'member' | 'tasks' | 'log' | 'clock'>,
  deps: AgentDeps,
  capabilities: Pick<Capabilities, 'declared'>,
): ExecutionDeps['runHook'] {
  /** What is repeated now, so that several executions of one hook do not report it more often. */
  const lasting = new Set<string>()

  async function report(violation: HookViolation): Promise<void> {
    await attempt(deps, member, {
      operation: 'violations',
      isRepeatable: true,
      call: (token) =>
        deps.client.PostNodeIntegrityViolations(
          { id: member.identity.node_id, body: { violations: [violation] } },
          { token },
        ),
    })
    if (!deps.until.aborted) tasks.schedule(AGAIN_MS, () => reportWhileItLasts(violation))
  }

  /** It ends when the file is as declared again, or when another one was declared. */
  async function reportWhileItLasts(violation: HookViolation): Promise<void> {
    const { kind, artifact, expected_checksum: expected } = violation
    const now = await checksumNow(artifact)
    const isDeclared = capabilities.declared().some(({ name, checksum }) => name === artifact && checksum === expected)
    if (!isDeclared || now === expected) return void lasting.delete(keyOf(violation))
    const observed = now === undefined ? {} : { observed_checksum: now }
    const detectedAt = new Date(clock.now()).toISOString()
    return report({ kind, artifact, expected_checksum: expected, ...observed, detected_at: detectedAt })
  }

  /** Undefined where there is no file that could be read safely. */
  async function checksumNow(name: string): Promise<string | undefined> {
    try {
      return (await hooks.list()).hooks.find((hook) => hook.name === name)?.checksum
    } catch (error) {
      log.line(`hooks: ${reasonOf(error)}`)
      return undefined
    }
  }

  return async (execution, signal) => {
    const { end, violation } = await hooks.run(execution, capabilities.declared(), signal)
    if (violation === undefined) return end
    log.line(`hooks: ${violation.artifact} is not the declared one and was not run`)
    const key = keyOf(violation)
    if (!lasting.has(key)) tasks.track(report(violation))
    lasting.add(key)
    return end
  }
}

function keyOf({ artifact, expected_checksum: expected }: HookViolation): string {
  return `${artifact} ${expected}`
}
