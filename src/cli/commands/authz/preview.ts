import { usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import type { Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { changesAnything, type Edit, type Impact } from './impact-answer.ts'
import { impactLines, impactSummary } from './impact-lines.ts'
import { namesOf, naming } from './naming.ts'
import { isScreen } from '../../output/screen.ts'
import { printedCurl } from './question.ts'

export const DRY_RUN: FlagSpec = {
  kind: 'switch',
  describe: 'Change nothing; show who would gain or lose what, and exit 10 if anything would change',
}

/** Edits that one preview takes. */
const EDITS_MAX = 100
/** Changes to list; all of them are counted. */
const CHANGES_MAX = 1000

/** Shows what edits would change and changes nothing. Exit 10 when anything would, 0 when nothing would. */
export async function preview(session: Session, edits: readonly Edit[], resolver: Resolver): Promise<ExitCode> {
  if (edits.length > EDITS_MAX)
    throw usageError(`a preview takes at most ${EDITS_MAX} changes, not ${edits.length}`, 'Split them into several.')
  const operation = session.operation('PostAuthzImpact')
  const body = { edits, changes_max: CHANGES_MAX }
  if (await printedCurl(session, operation, { body })) return EXIT.ok
  const impact = edits.length === 0 ? NOTHING : await impactOf(session, body)
  await show(session, impact, resolver)
  return changesAnything(impact) ? EXIT.negative : EXIT.ok
}

const NOTHING: Impact = { changes: [], count: 0, hidden_count: 0, complete: true }

async function impactOf(session: Session, body: Readonly<Record<string, unknown>>): Promise<Impact> {
  const caller = await session.caller()
  session.expectOutput()
  // The server validates its answers against this very operation.
  return (await caller.call(session.operation('PostAuthzImpact'), { body })).value as Impact
}

/** Grouped for people, one row a change for programs. */
async function show(session: Session, impact: Impact, resolver: Resolver): Promise<void> {
  const { io, style } = session
  const { output } = await session.settings()
  if (!io.stdout.isTty || !(await isScreen(session))) {
    await session.emit(impact, { rows: 'changes', columns: ['change', 'subject', 'permission', 'resource'] })
  } else {
    const references = impact.changes.flatMap(({ subject, resource }) => [subject, resource])
    const names = output.value === 'wide' ? naming(new Map()) : await namesOf(resolver, references)
    io.stdout.write(
      impactLines(impact, names, style)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }
  session.note(impactSummary(impact))
}
