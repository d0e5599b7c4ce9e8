import { requestOf } from '../../../client/client.ts'
import { followStream, type FollowOptions } from '../../../client/event-stream.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { cutSentence } from './cut-sentence.ts'
import type { FrameCheck } from './frame-check.ts'
import type { FramePrinter } from './frame-printer.ts'

/** Attempts to connect in a row: a command that is typed by a person gives up soon. */
export const TRIES_MAX = 3

/** A stream of signed events, of a node or of a Domain, with what is done with its frames. */
export interface Watching {
  readonly session: Session
  readonly connect: FollowOptions['connect']
  /** The id of the event after which it begins; undefined: with what comes. */
  readonly since: string | undefined
  readonly check: FrameCheck
  readonly printer: FramePrinter
}

/** Opens connections to the stream of the operation. */
export async function connecting(
  session: Session,
  operation: ManifestOperation,
  input: Readonly<Record<string, unknown>>,
): Promise<FollowOptions['connect']> {
  const caller = await session.caller()
  const request = requestOf(operation, input)
  return (headers, signal) => caller.open({ ...request, headers }, { operation, signal })
}

/** Prints what comes until it is interrupted. The exit code is another one where a frame was wrong. */
export async function follow({ session, connect, since, check, printer }: Watching): Promise<ExitCode> {
  const { interrupted: signal } = session.io
  let last = since
  await followStream(
    { connect, signal, lastEventId: since, triesMax: TRIES_MAX },
    {
      opened: () => check.connected(),
      async frame(frame) {
        const verdict = await check.look(frame)
        await printer.print([{ frame, verdict }])
        if (verdict.isTaken) last = frame.id ?? last
        return verdict.isTaken
      },
      cut: (cut) => session.warn(cutSentence(cut, last)),
    },
  )
  session.note(`Stopped.${last === undefined ? '' : ` Go on after it with --since ${last}.`}`)
  return check.faults() > 0 ? EXIT.negative : EXIT.interrupted
}
