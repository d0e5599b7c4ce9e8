import { defineCommand } from '../argv/command.ts'
import { placeFlag } from '../derive/places.ts'
import { applyPlan, type Outcome } from '../domain-files/apply-plan.ts'
import { titleOf } from '../domain-files/document.ts'
import { emitPlan } from '../domain-files/emit-plan.ts'
import { comparingOf, prepare, type Comparing, type ComparingFlags } from '../domain-files/prepare.ts'
import { assertHolds, readPlan } from '../domain-files/plan/plan-file.ts'
import type { Plan } from '../domain-files/plan/plan.ts'
import { liveByKey } from '../domain-files/read-domain.ts'
import { usageError } from '../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import { createProgress } from '../output/progress.ts'
import { harmless } from '../output/style.ts'
import type { Session } from '../session/session.ts'

/** Makes a Domain what files say. */
export const apply = defineCommand({
  description: [
    'Creates and changes what the files name. What they do not name stays, unless --prune removes what the set itself has created.',
    'With --plan it does exactly what the plan says, or nothing where an object has changed since.',
    'An apply that was interrupted goes on when it is run again. Exits with 10 where something waits for approval or is not there yet.',
  ].join('\n'),
  args: [{ name: 'dir', describe: 'Folder with the files', required: true }],
  flags: {
    domain: placeFlag('domains'),
    plan: { kind: 'text', value: 'FILE', describe: 'Plan of "ctl diff --save-plan"' },
    prune: { kind: 'switch', describe: 'Remove what the set has created and no file names' },
    'prune-max': { kind: 'integer', value: 'N', describe: 'Remove at most so many objects', fallback: '10' },
    adopt: { kind: 'switch', describe: 'Mark objects that the files name as those of the set' },
  },
  uses: ['connection', 'output', 'confirm'],
  asks: true,
  examples: ['ctl apply ./domain', 'ctl apply ./domain --plan plan.json --yes', 'ctl apply ./domain --prune --yes'],
  async run(session, { args: [dir], flags }) {
    if (dir === undefined) throw usageError('<dir> is missing', 'See: ctl apply --help')
    assertAnswerable(session)
    const saved = flags.plan === undefined ? undefined : await readPlan(flags.plan, session.io.cwd)
    const comparing = saved === undefined ? comparingOf(flags) : savedComparing(flags, saved)
    const prepared = await prepare(session, dir, comparing)
    const { world, plan } = prepared
    if (saved !== undefined) assertHolds(saved, { plan, live: liveByKey(world) })
    await emitPlan(session, prepared)
    if (plan.steps.length === 0) return waitingCode(session, plan)
    if (!(await isAgreed(session, prepared.target))) return EXIT.interrupted
    const progress = createProgress(session, 'steps', plan.steps.length)
    const outcome = await applyPlan(world, plan, (done) => progress.at(done))
    progress.end()
    return said(session, plan, outcome)
  },
})

/** A plan is compared as it was made: with its own bound of removals, and as it adopts. */
function savedComparing(flags: ComparingFlags, { prune, adopt, domain }: Plan): Comparing {
  const given = (['prune', 'prune-max', 'adopt'] as const).find(
    (name) => flags[name] !== undefined && flags[name] !== false,
  )
  if (given !== undefined)
    throw usageError(`--${given} is part of a plan when it is made`, `Give it to: ctl diff DIR --save-plan FILE`)
  return { prune: prune !== undefined, pruneMax: prune, isAdopting: adopt === true, savedDomain: domain }
}

/** A plan is shown before it is applied. Without a terminal, `--yes` is required before anything is read. */
function assertAnswerable({ shared, canAsk }: Session): void {
  if (shared.yes !== true && !canAsk) throw usageError('apply changes the Domain, and nobody can be asked', 'Add --yes')
}

async function isAgreed(session: Session, target: string): Promise<boolean> {
  if (session.shared.yes === true) return true
  const prompter = await session.io.prompter()
  if ((await prompter.confirm(`Apply these changes to ${target}?`)) === true) return true
  session.note('Nothing was applied.')
  return false
}

function waitingCode(session: Session, plan: Plan): ExitCode {
  if (plan.waits.length === 0) return EXIT.ok
  session.note('Run it again when they are there.')
  return EXIT.negative
}

function said(session: Session, plan: Plan, { done, held, left, failure }: Outcome): ExitCode {
  session.note(`Applied ${done.length} of ${plan.steps.length} ${plan.steps.length === 1 ? 'object' : 'objects'}.`)
  for (const { step, approval } of held) {
    const where =
      approval === undefined ? 'a request for it waits already: ctl approvals list' : `ctl approvals show ${approval}`
    session.note(`${harmless(titleOf(step))} waits for approval: ${where}`)
  }
  if (failure !== undefined) {
    const reach = `${left.length} ${left.length === 1 ? 'object was' : 'objects were'} not reached`
    session.note(`Stopped at ${harmless(titleOf(failure.step))}; ${reach}. Run it again to go on.`)
    throw failure.error
  }
  return held.length + plan.waits.length > 0 ? EXIT.negative : EXIT.ok
}
