import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { counted } from '../../output/counts.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import type { Rollout } from './answers.ts'
import { totalsOf, totalsText } from './picture.ts'

/** Says on stderr how a rollout ended, and what to do next. Answers the exit code: 0 only where it is completed. */
export function sayEnd(session: Session, rollout: Rollout): ExitCode {
  const slug = harmless(rollout.slug)
  const counts = totalsOf(rollout)
  const totals = totalsText(counts)
  if (rollout.status === 'completed') {
    session.note(`Rollout ${slug} is completed: ${totals}.`)
    if (rollout.failures > 0)
      session.note(`See why ${counted(rollout.failures, 'node')} failed: ctl rollouts nodes ${slug} --state failed`)
    if (counts.skipped > 0)
      session.note(
        `See why ${counted(counts.skipped, 'node')} ${counts.skipped === 1 ? 'was' : 'were'} skipped: ctl rollouts nodes ${slug} --state skipped`,
      )
    if (rollout.node_count === 0) session.warn(`no node matched ${harmless(rollout.selector)} when it started`)
    return EXIT.ok
  }
  const why = rollout.halted_reason === null ? '' : `: ${harmless(rollout.halted_reason)}`
  session.warn(`rollout ${slug} was ${rollout.status}${why}`)
  session.note(`  ${totals}`)
  for (const line of rollout.status === 'halted' ? haltedHints(rollout) : cancelledHints(rollout)) session.note(line)
  return EXIT.negative
}

function haltedHints({ slug, failures, max_failures: failuresMax }: Rollout): readonly string[] {
  const failed = `See which nodes failed, and why: ctl rollouts nodes ${harmless(slug)} --state failed`
  return [...(failures > 0 ? [failed] : []), ...(failures > failuresMax ? hintsForFailures(slug) : HINTS_FOR_RELEASE)]
}

function hintsForFailures(slug: string): readonly string[] {
  return [
    'A halted rollout does not go on. Once the cause is gone, create another one: nodes that have the version are done at once.',
    `Its plan to begin with: ctl rollouts show ${harmless(slug)} -o yaml`,
  ]
}

/** A release that was withdrawn never comes back. */
const HINTS_FOR_RELEASE = [
  'A halted rollout does not go on. See which releases may be installed: ctl artifacts list',
] as const

function cancelledHints({ slug }: Rollout): readonly string[] {
  return [`What had begun ends on its own; see: ctl rollouts nodes ${harmless(slug)}`]
}
