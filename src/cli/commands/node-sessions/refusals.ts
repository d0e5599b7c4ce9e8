import { CliError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FarDoor } from './far-door.ts'

interface Refusal {
  readonly message: (door: FarDoor) => string
  readonly exitCode: ExitCode
  readonly hint?: (door: FarDoor) => string
}

const ENDED: Refusal = {
  message: () => 'the session has ended: its time is over, it was idle for too long, or it was revoked',
  exitCode: EXIT.conflict,
  hint: () => 'Run the command again for a new one.',
}

/** What the faults of an agent mean to the person who asked (docs/agent-protocol.md, Mediated sessions). */
const REFUSALS: ReadonlyMap<string, Refusal> = new Map(
  Object.entries<Refusal>({
    not_live: ENDED,
    expired: ENDED,
    target_refused: {
      message: ({ name, target }) => `the agent of ${name} lets no session reach ${target}`,
      exitCode: EXIT.denied,
      hint: ({ name }) =>
        `127.0.0.1 is always allowed. Allow another network on ${name}: ctl agent down, then ctl agent up --allow-session-targets CIDR`,
    },
    target_unreachable: {
      message: ({ name, target }) => `nothing answers at ${target} on ${name}`,
      exitCode: EXIT.unavailable,
      hint: ({ name }) => `Start what listens there, or name another port of ${name}.`,
    },
    too_many_connections: {
      message: () => 'the session has as many connections as it may have',
      exitCode: EXIT.limited,
      hint: () => 'Close some, or use a second session.',
    },
    unavailable: {
      message: ({ name }) => `the agent of ${name} cannot verify the session, since it does not reach its server`,
      exitCode: EXIT.unavailable,
    },
  }),
)

const CODE = /^refused ([a-z_]{1,64})$/

/** The error for an answer of the far agent other than `ok`. */
export function refusalOf(answer: string, door: FarDoor): CliError {
  const fault = CODE.exec(answer)?.[1]
  if (fault === undefined)
    return new CliError(`${door.name} answers on the port of sessions, but not as an agent does`, {
      exitCode: EXIT.unavailable,
      code: 'unexpected_answer',
    })
  const { message, exitCode, hint } = REFUSALS.get(fault) ?? unknown(fault)
  const hints = hint === undefined ? [] : [hint(door)]
  return new CliError(message(door), { exitCode, code: `session_${fault}`, hints })
}

/** Whether the session is over, so that no further connection will be let in. */
export function isEnded(error: unknown): boolean {
  return error instanceof CliError && ['session_not_live', 'session_expired'].includes(error.code)
}

function unknown(fault: string): Refusal {
  return {
    message: ({ name }) => `the agent of ${name} refuses the session: ${fault}`,
    exitCode: EXIT.denied,
  }
}
