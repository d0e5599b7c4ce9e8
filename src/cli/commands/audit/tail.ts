import { randomUUID } from 'node:crypto'
import { ProblemAnswer, TransportFailure } from '../../../client/failures.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { inputOf } from './chain-command.ts'
import { namedRows } from './named-rows.ts'
import { rowFilter, rowFlags } from './row-filter.ts'
import { createRowFollower, type News, type RowFollower } from './follow-rows.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { isRow } from '../../output/members.ts'
import { createRowStream, streamFormat } from '../../output/row-stream.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

const EVERY_MS = 1_000

/** Shows audited decisions as they come, until Ctrl-C. */
export function tail(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetAudit')
  return {
    description:
      'Looks once a second, until Ctrl-C. Begins with what comes from now on, or with --since. Its own looks, which are audited like any others, are not shown. A table on a terminal, JSON lines elsewhere.',
    flags: rowFlags(operation, manifest, ['until']),
    uses: ['connection', 'output'],
    examples: ['ctl audit tail', 'ctl audit tail --outcome permission_denied', 'ctl audit tail --since 10m -o jsonl'],
    run: (session, given) => run(session, operation, rowFilter(session, given)),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode> {
  const show = await shower(session, operation)
  try {
    const input = await inputOf(session, operation, given)
    const caller = await session.caller()
    const follower = createRowFollower({ caller, operation, input, correlationId: `tail-${randomUUID()}` })
    if (given.flags['since'] === undefined) await follower.begin()
    await follow(session, follower, show)
  } catch (error) {
    if (!session.io.interrupted.aborted) throw error
  }
  session.note('Stopped. Nothing is lost: every row stays in the audit log. See: ctl audit list')
  return EXIT.interrupted
}

type Show = (news: News) => Promise<void>

/** Looks at fixed times, so that a slow answer does not move those that follow. */
async function follow(session: Session, follower: RowFollower, show: Show): Promise<void> {
  const { io } = session
  const startedMs = io.nowMs()
  let isAway = false
  for (let look = 1; !io.interrupted.aborted; look++) {
    try {
      await show(await follower.look())
      isAway = false
    } catch (error) {
      if (!isPassing(error) || io.interrupted.aborted) throw error
      if (!isAway) session.warn(`the server could not be asked (${error.message}); trying on, nothing will be left out`)
      isAway = true
    }
    await io.sleep(Math.max(0, startedMs + look * EVERY_MS - io.nowMs()))
  }
}

/** What may be over the next time. */
function isPassing(error: unknown): error is Error {
  if (error instanceof ProblemAnswer) return error.status >= 500 || error.status === 429
  return error instanceof TransportFailure && ['unreachable', 'broken', 'timeout'].includes(error.fault)
}

/** Prints rows as they come; the titles of a table once. */
async function shower(session: Session, { cli }: ManifestOperation): Promise<Show> {
  const format = await streamFormat(session)
  if (format === 'json') throw usageError('a stream has no end that JSON could close', 'Use -o jsonl.')
  const { stdout } = session.io
  const isForPeople = stdout.isTty && (format === 'table' || format === 'wide')
  const stream = createRowStream(session, format)
  return async ({ rows, isPartial }) => {
    if (isPartial) session.warn('more rows came than can be shown. See: ctl audit list')
    await stream.print(isForPeople ? namedRows(rows).map(withClock) : rows, {
      columns: cli?.columns ?? [],
      wide: cli?.wide,
    })
  }
}

/** "3s ago" would be wrong a moment later. */
function withClock(row: unknown): unknown {
  return isRow(row) && typeof row['at'] === 'string' ? { ...row, at: row['at'].slice(11, 19) } : row
}
