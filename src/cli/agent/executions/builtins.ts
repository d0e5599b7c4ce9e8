import type { End } from '../../../client/agent/executions/execution.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import { cutText, ERROR_BYTES_MAX, OUTPUT_BYTES_MAX } from './callback-text.ts'

/** What built-in actions do with the agent. */
export interface BuiltinPorts {
  /** What an operator who looks for a fault needs; no secret. */
  readonly diagnostics: () => Promise<string>
  /** Reads everything again: state, secrets and capabilities. */
  readonly reload: () => Promise<void>
  /** Starts the agent again. The tunnels stay up. */
  readonly restart: () => Promise<void>
}

type Builtin = (ports: BuiltinPorts) => Promise<End>

const BUILTINS: Readonly<Record<string, Builtin>> = {
  ping: async () => succeeded('pong\n'),
  collect_diagnostics: async ({ diagnostics }) => succeeded(cutText(await diagnostics(), OUTPUT_BYTES_MAX)),
  reload_config: async ({ reload }) => {
    await reload()
    return succeeded('reloaded\n')
  },
  restart_agent: async ({ restart }) => ({ ...succeeded('restarting\n'), afterwards: restart }),
}

/** Carries out an action. One that the agent does not have fails. */
export function performBuiltin(ports: BuiltinPorts, { action, type }: PulledExecution): Promise<End> {
  const builtin = type === 'builtin' && Object.hasOwn(BUILTINS, action) ? BUILTINS[action] : undefined
  if (builtin !== undefined) return builtin(ports)
  return Promise.resolve(failed(`this agent has no action ${action}`))
}

/** An execution that ended with success. */
export function succeeded(output: string): End {
  return { callback: { status: 'succeeded', exit_code: 0, output } }
}

/** An execution that ended without success, with the reason. */
export function failed(error: string): End {
  return { callback: { status: 'failed', exit_code: 1, error: cutText(error, ERROR_BYTES_MAX) } }
}
