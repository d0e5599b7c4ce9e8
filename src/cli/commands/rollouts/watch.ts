import { defineCommand } from '../../argv/command.ts'
import { shortDuration } from '../../argv/duration.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { placeFlag } from '../../derive/places.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { isPassing } from '../../errors/passing.ts'
import { harmless } from '../../output/style.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import type { Rollout } from './answers.ts'
import { sayEnd } from './rollout-end.ts'
import { createRolloutDisplay, type RolloutDisplay } from './rollout-display.ts'

const EVERY_MS = 1_000

const FLAGS = {
  domain: placeFlag('domains'),
  timeout: { kind: 'duration', describe: 'Stop watching after this long, with exit code 10; the rollout goes on' },
} as const satisfies FlagSpecs

/** Follows a rollout up to its end. */
export const watch = defineCommand({
  description: [
    'On a terminal a bar for each wave, redrawn in place; elsewhere a line for each change, with -o json or jsonl the rollout as a line of JSON.',
    'Exit 0: completed. Exit 10: halted or cancelled; the reason and what to do next are on stderr. Ctrl-C stops watching, and the rollout goes on.',
  ].join('\n'),
  args: [{ name: 'rollout', describe: 'Rollout', noun: 'rollouts', required: true }],
  flags: FLAGS,
  uses: ['connection', 'output'],
  examples: ['ctl rollouts watch r1', 'ctl rollouts watch r1 --timeout 2h', 'ctl rollouts watch r1 -o jsonl'],
  async run(session, { args: [text], flags }) {
    if (text === undefined) throw usageError('<rollout> is missing', 'See: ctl rollouts watch --help')
    const display = await createRolloutDisplay(session)
    const { id } = await createResolver(session).object('rollouts', text, {})
    const untilMs = flags.timeout === undefined ? Infinity : session.io.nowMs() + flags.timeout * 1000
    const last = await follow(session, { id, display, untilMs })
    if (last !== undefined && isOver(last)) return sayEnd(session, last)
    return sayStopped(session, { name: last?.slug ?? text, timeoutSeconds: flags.timeout })
  },
})

interface Followed {
  readonly id: string
  readonly display: RolloutDisplay
  readonly untilMs: number
}

/** Looks once a second until the rollout has ended, the time is over, or Ctrl-C. Answers the last look. */
async function follow(session: Session, { id, display, untilMs }: Followed): Promise<Rollout | undefined> {
  const { io } = session
  let last: Rollout | undefined
  let isAway = false
  while (!io.interrupted.aborted) {
    const found = await look(session, id)
    if (found instanceof Error) {
      sayAway(session, found, { isKnown: last !== undefined, isAway })
      isAway = true
    } else if (found !== undefined) {
      isAway = false
      last = found
      await display.show(found)
      if (isOver(found)) return found
    }
    if (io.nowMs() >= untilMs) return last
    await io.sleep(Math.min(EVERY_MS, Math.max(1, untilMs - io.nowMs())))
  }
  return last
}

/** Warns once that the server is away. @throws the error where it was never reached: rather, its address is wrong. */
function sayAway(
  session: Session,
  error: Error,
  { isKnown, isAway }: { readonly isKnown: boolean; readonly isAway: boolean },
): void {
  if (!isKnown) throw error
  if (!isAway) session.warn(`the server could not be asked (${error.message}); trying on`)
}

/** The rollout as it is; why it could not be asked where that may pass; undefined after Ctrl-C. */
async function look(session: Session, id: string): Promise<Rollout | Error | undefined> {
  try {
    const { value } = await (await session.caller()).call(session.operation('GetRollout'), { id })
    return value as Rollout // What the contract says of 200.
  } catch (error) {
    if (session.io.interrupted.aborted) return undefined
    if (isPassing(error)) return error
    throw error
  }
}

function isOver({ status }: Rollout): boolean {
  return status === 'completed' || status === 'halted' || status === 'cancelled'
}

interface Stopped {
  readonly name: string
  readonly timeoutSeconds: number | undefined
}

function sayStopped(session: Session, { name, timeoutSeconds }: Stopped): ExitCode {
  const isInterrupted = session.io.interrupted.aborted
  const when = isInterrupted ? 'Stopped watching' : `Not over within ${shortDuration(timeoutSeconds ?? 0)}`
  const shown = harmless(name)
  session.note(`${when}. The rollout goes on. Watch it with: ctl rollouts watch ${shown}`)
  session.note(`To stop the rollout itself: ctl rollouts pause ${shown}`)
  return isInterrupted ? EXIT.interrupted : EXIT.negative
}
