import { fstatSync, statSync } from 'node:fs'
import { enrolledState, openPlace } from '../../agent/enrolled-state.ts'
import { openLog, type Log } from '../../agent/log.ts'
import type { Place } from '../../agent/place.ts'
import { reportStart, startSuccessor } from '../../agent/process/background.ts'
import { takeLock } from '../../agent/process/process-lock.ts'
import { runAgent } from '../../agent/process/run-agent.ts'
import type { AgentEnd } from '../../agent/agent.ts'
import { reasonOf } from '../../agent/errors.ts'
import { defineCommand } from '../../argv/command.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { UP_FLAGS, type UpFlags } from './flags.ts'
import { placeIn } from './place-in.ts'

export const run = defineCommand({
  description: [
    'Does what "ctl agent up" does, and stays in the foreground: it logs on stderr as well. SIGTERM and Ctrl-C end the agent and leave the tunnels up, so that a restart interrupts no connection; "ctl agent down" removes them.',
    'Ends with exit code 4 where the server refuses the key of the node for good, and with 143 where it was asked to start again and a service manager runs it.',
  ].join('\n'),
  flags: UP_FLAGS,
  examples: ['ctl agent run', 'ctl agent run --state-dir /var/lib/ctl-agent-2'],
  async run(session, { flags }) {
    const place = placeIn(session, flags)
    try {
      return await runLocked(session, flags, place)
    } catch (error) {
      await reportStart(failureOf(error))
      throw error
    }
  },
})

async function runLocked(session: Session, flags: UpFlags, place: Place): Promise<ExitCode> {
  await openPlace(place)
  const lock = await takeLock(place.lock)
  let end: AgentEnd
  try {
    end = await runLogged(session, flags, place)
  } finally {
    await lock.release()
  }
  if (end === 'restart') return startAgain(session)
  return end === 'refused' ? EXIT.signedOut : EXIT.ok
}

/** A service manager starts its service again by itself: the unit of "ctl agent install" does after this exit code. */
function startAgain(session: Session): ExitCode {
  if (session.io.env['INVOCATION_ID'] !== undefined) return EXIT.terminated
  startSuccessor()
  return EXIT.ok
}

async function runLogged(session: Session, flags: UpFlags, place: Place): Promise<AgentEnd> {
  const log: Log = openLog(place.log, isStderr(place.log) ? {} : { echo: (line) => session.io.stderr.write(line) })
  try {
    return await runAgent({
      place,
      state: await enrolledState(session, flags, place),
      manifest: session.manifest(),
      version: session.version,
      userAgent: session.userAgent,
      log,
      interrupted: session.io.interrupted,
      onReady: () => void reportStart({ kind: 'ready' }),
    })
  } finally {
    log.close()
  }
}

/** Whether stderr goes to that file already, as that of a background process does. */
function isStderr(path: string): boolean {
  const [stderr, file] = [fstatSync(2), statSync(path, { throwIfNoEntry: false })]
  return file !== undefined && stderr.ino === file.ino && stderr.dev === file.dev
}

function failureOf(error: unknown) {
  const known = error instanceof CliError ? error : undefined
  return {
    kind: 'failed' as const,
    message: reasonOf(error),
    code: known?.code ?? 'fault',
    hints: known?.hints ?? [],
    exitCode: known?.exitCode ?? EXIT.failed,
  }
}
