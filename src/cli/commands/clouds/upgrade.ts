import { usageError } from '../../errors/cli-error.ts'
import { defineCommand, type Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { assertOwnAnswerable, confirmOwnChange } from '../../derive/own-change.ts'
import { counted } from '../../output/counts.ts'
import type { Session } from '../../session/session.ts'
import { namedBundle } from './reading.ts'
import { planOf, type Plan } from './upgrade/plan.ts'
import { assertReportable, emitPlan, report, showPlan } from './upgrade/report.ts'
import { promoteInBatches } from './upgrade/run.ts'

const FLAGS = {
  bundle: { kind: 'text', value: 'BUNDLE', noun: 'bundles', describe: 'Bundle of the Clouds', required: true },
  to: { kind: 'integer', value: 'VERSION', describe: 'Version that they move to; the newest one when absent' },
  batch: {
    kind: 'integer',
    value: 'N',
    describe: 'Clouds in a batch; all of them when absent, 1 with --pause',
  },
  pause: { kind: 'switch', describe: 'Ask between batches whether to go on' },
  'dry-run': { kind: 'switch', describe: 'Change nothing; show which Clouds would move, and exit 10 if any would' },
} as const satisfies FlagSpecs

type UpgradeGiven = Given<typeof FLAGS>
const WORDS = 'clouds upgrade'

export const upgrade = defineCommand({
  description: [
    'Shows the plan and asks, then moves one Cloud after the other. Only Clouds behind the version move; none moves back. Overrides stay.',
    'Each Cloud is read again before it moves: one that somebody else moved, or gave another bundle, is reported and left alone. So the command can be run again after it stopped, and goes on.',
    'Exit 0: no Cloud of the bundle is behind. Exit 10: some are. Exit 130 after Ctrl-C, which lets the Cloud that is moving finish.',
  ].join('\n'),
  flags: FLAGS,
  uses: ['connection', 'output', 'confirm'],
  asks: true,
  examples: [
    'ctl clouds upgrade --bundle hetzner-base --dry-run',
    'ctl clouds upgrade --bundle hetzner-base --to 4 --batch 2 --pause',
  ],
  async run(session, given) {
    const { flags } = given
    await assertPossible(session, given)
    const bundle = await namedBundle(session, flags.bundle ?? '')
    const plan = await planOf(session, bundle, flags.to ?? bundle.latest_version)
    if (flags['dry-run'] === true || plan.moves.length === 0) return emitPlan(session, plan)
    await confirm(session, plan)
    const batchSize = flags.batch ?? (flags.pause === true ? 1 : plan.moves.length)
    const end = await promoteInBatches(session, plan, { batchSize, isPausing: flags.pause === true })
    return report(session, plan, end)
  },
})

/** Throws what is wrong with the command line alone, before anything is asked of the server. */
async function assertPossible(session: Session, { flags }: UpgradeGiven): Promise<void> {
  const { bundle, to, batch, pause, 'dry-run': isDry } = flags
  if (bundle === undefined) throw usageError('--bundle is missing', 'Add --bundle BUNDLE', `See: ctl ${WORDS} --help`)
  if (to !== undefined && to < 1) throw usageError('--to must be at least 1')
  if (batch !== undefined && batch < 1) throw usageError('--batch must be at least 1')
  if (isDry === true) return
  if (pause === true && !session.canAsk)
    throw usageError('--pause asks between batches, and there is nobody to ask', 'Leave --pause out')
  await assertOwnAnswerable(session, 'PatchCloud', WORDS)
}

async function confirm(session: Session, plan: Plan): Promise<void> {
  await assertReportable(session)
  if (session.shared.yes !== true) showPlan(session, plan)
  const what = `${counted(plan.moves.length, 'Cloud')} to version ${plan.to} of ${plan.bundle.slug}`
  await confirmOwnChange(session, 'PatchCloud', { question: `Move ${what}` })
}
