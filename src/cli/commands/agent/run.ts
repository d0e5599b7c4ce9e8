import { fstatSync, statSync } from 'node:fs'
import { enrolledState, openPlace } from '../../agent/enrolled-state.ts'
import { openLog, type Log } from '../../agent/log.ts'
import type { Place } from '../../agent/place.ts'
import { reportStart, startSuccessor, startTrial } from '../../agent/process/background.ts'
import { runAgent, type RunOptions } from '../../agent/process/run-agent.ts'
import { runProgram } from '../../agent/system/run-program.ts'
import { lockAfterTrial } from '../../agent/upgrade/lock-after-trial.ts'
import { ownProgram, type ProgramFile } from '../../agent/upgrade/program-file.ts'
import { SERVICE_VARIABLE, upgradingOf } from '../../agent/upgrade/upgrading.ts'
import { watchTrial } from '../../agent/upgrade/watch-trial.ts'
import type { AgentEnd } from '../../agent/agent-end.ts'
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
  const lock = await lockAfterTrial(place, { isService: session.io.env[SERVICE_VARIABLE] !== undefined })
  const file = await ownProgram({ main: process.argv[1], former: place.formerProgram, run: runProgram })
  const upgrading = upgradingOf(file, session.io.env)
  let end: AgentEnd
  try {
    end = await logged(session, place, (log) => runEnrolled(session, flags, { place, log, upgrading }))
  } finally {
    await lock.release()
  }
  if (end === 'restart') return startAgain(session)
  if (end === 'upgrade' && file !== undefined) return tryUpgrade(session, place, file)
  return end === 'refused' ? EXIT.signedOut : EXIT.ok
}

/** A service manager starts its service again by itself: the unit of "ctl agent install" does after this exit code. */
function startAgain(session: Session): ExitCode {
  if (session.io.interrupted.aborted) return EXIT.ok
  if (session.io.env[SERVICE_VARIABLE] !== undefined) return EXIT.terminated
  startSuccessor()
  return EXIT.ok
}

/** Starts the agent from its new file, and again from the former one where that does not work. */
async function tryUpgrade(session: Session, place: Place, file: ProgramFile): Promise<ExitCode> {
  const { interrupted } = session.io
  const end = await logged(session, place, (log) => watchTrial({ place, file, log, interrupted, start: startTrial }))
  return end === 'again' ? startAgain(session) : end
}

type Running = Pick<RunOptions, 'place' | 'log' | 'upgrading'>

async function runEnrolled(session: Session, flags: UpFlags, running: Running): Promise<AgentEnd> {
  return runAgent({
    ...running,
    state: await enrolledState(session, flags, running.place),
    manifest: session.manifest(),
    version: session.version,
    userAgent: session.userAgent,
    interrupted: session.io.interrupted,
    onReady: () => void reportStart({ kind: 'ready' }),
  })
}

async function logged<T>(session: Session, place: Place, work: (log: Log) => Promise<T>): Promise<T> {
  const log = openLog(place.log, isStderr(place.log) ? {} : { echo: (line) => session.io.stderr.write(line) })
  try {
    return await work(log)
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
