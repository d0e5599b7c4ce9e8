import { ProblemAnswer } from '../../client/failures.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import { isSame } from './canonical.ts'
import { keyOf, MANAGED_BY, titleOf, type Document, type LiveObject } from './document.ts'
import type { Kind, World } from './kind.ts'
import { KINDS } from './kinds.ts'
import type { Change, Plan, Step } from './plan/plan.ts'
import { liveByKey, sentValue } from './read-domain.ts'
import { unlessGone } from './unless-gone.ts'

/** What became of the steps of a plan. */
export interface Outcome {
  readonly done: readonly Step[]
  /** Steps that a second person has to approve, with the approval where it was requested now. */
  readonly held: readonly { readonly step: Step; readonly approval?: string }[]
  /** Steps that were not reached. */
  readonly left: readonly Step[]
  /** What ended it. */
  readonly failure?: { readonly step: Step; readonly error: unknown }
}

/** Called after each step. */
export type Reporter = (done: number) => void

/** Kinds whose objects need the labels of others to be in place. */
const AFTER_LABELS = new Set(['grants', 'policy', 'approval-policy'])

/**
 * Carries a plan out: objects kind by kind, then their labels, then roles and policies, then removals. The first failure ends it; what
 * was done stays, and a new run goes on from there.
 */
export async function applyPlan(world: World, plan: Plan, report: Reporter): Promise<Outcome> {
  const work = createWork(world, plan)
  const done: Step[] = []
  const held: { step: Step; approval?: string }[] = []
  for (const [index, { step, run }] of work.entries()) {
    try {
      await run()
      if (!done.includes(step) && !held.some((one) => one.step === step)) done.push(step)
    } catch (error) {
      const approval = heldBy(error)
      if (approval === undefined) {
        const left = [...new Set(work.slice(index + 1).map((one) => one.step))].filter((one) => one !== step)
        return { done: done.filter((one) => one !== step), held, left, failure: { step, error } }
      }
      held.push({ step, ...approval })
    }
    report(done.length)
  }
  return { done: done.filter((step) => !held.some((one) => one.step === step)), held, left: [] }
}

/** What holds a call: the approval that was requested, nothing where another one waits already; undefined for other failures. */
function heldBy(error: unknown): { readonly approval?: string } | undefined {
  if (error instanceof ProblemAnswer && error.code === 'approval_pending') return {}
  if (!(error instanceof CliError) || error.code !== 'approval_required') return undefined
  const approval = /ctl approvals show (\S+)/.exec(error.hints.join(' '))?.[1]
  return approval === undefined ? {} : { approval }
}

interface Work {
  readonly step: Step
  readonly run: () => Promise<void>
}

/** A plan that is carried out, with the objects that are there and those that it has created. */
interface Run {
  readonly world: World
  readonly plan: Plan
  readonly live: ReadonlyMap<string, LiveObject>
  readonly created: Map<string, LiveObject>
}

/** The calls of a plan in their order, in pieces that belong to one step each. */
function createWork(world: World, plan: Plan): readonly Work[] {
  const run = { world, plan, live: liveByKey(world), created: new Map<string, LiveObject>() }
  const isLate = ({ name }: Kind): boolean => AFTER_LABELS.has(name)
  return [
    ...KINDS.filter((kind) => !isLate(kind)).flatMap((kind) => writesOf(run, kind)),
    ...KINDS.flatMap((kind) => labelsOf(run, kind)),
    ...KINDS.filter(isLate).flatMap((kind) => writesOf(run, kind)),
    ...KINDS.toReversed().flatMap((kind) => removalsOf(run, kind)),
  ]
}

/** Creations and changes of a kind, then the members that need all objects of the kind. */
function writesOf(run: Run, kind: Kind): readonly Work[] {
  const steps = stepsOf(run, kind).filter(({ action }) => action !== 'remove')
  const later = steps.filter((step) => step.action === 'create' && laterChanges(kind, step).length > 0)
  return [
    ...steps.map((step): Work => ({ step, run: () => writeObject(run, kind, step) })),
    ...later.map((step) =>
      piece(run, step, (object) => changeObject(run.world, kind, { step, object, changes: laterChanges(kind, step) })),
    ),
  ]
}

function labelsOf(run: Run, kind: Kind): readonly Work[] {
  const steps = stepsOf(run, kind).filter((step) => step.action !== 'remove' && labelChanges(step).length > 0)
  return steps.map((step) =>
    piece(run, step, (object) => writeLabels(run.world, kind, { object, changes: labelChanges(step) })),
  )
}

function removalsOf(run: Run, kind: Kind): readonly Work[] {
  const remove = async (object: LiveObject): Promise<void> => {
    await assertUnchanged(run.world, kind, { object, isRemoval: true })
    await kind.remove?.(run.world, object)
  }
  const steps = stepsOf(run, kind).filter(({ action }) => action === 'remove')
  return steps.map((step) => piece(run, step, (object) => unlessGone(() => remove(object))))
}

function stepsOf({ plan }: Run, kind: Kind): readonly Step[] {
  return plan.steps.filter((step) => step.kind === kind.name)
}

/** What is done with the object of a step; nothing where its creation is held. */
function piece({ live, created }: Run, step: Step, run: (object: LiveObject) => Promise<void>): Work {
  return {
    step,
    async run() {
      const object = created.get(keyOf(step)) ?? live.get(keyOf(step))
      if (object !== undefined) await run(object)
    },
  }
}

async function writeObject({ world, live, created }: Run, kind: Kind, step: Step): Promise<void> {
  const own = ownChanges(kind, step)
  const object = live.get(keyOf(step))
  if (object !== undefined) {
    if (own.length > 0) await changeObject(world, kind, { step, object, changes: own })
    return
  }
  const document = documentOf(step)
  const mark = step.changes.find(isMark)
  const managedBy = typeof mark?.to === 'string' ? mark.to : undefined
  const id = (await kind.create?.(world, { document, live: undefined, managedBy, changes: own })) ?? ''
  created.set(keyOf(step), { ...document, id, row: {} })
}

interface Changing {
  readonly step: Step
  readonly object: LiveObject
  readonly changes: readonly Change[]
}

async function changeObject(world: World, kind: Kind, { step, object, changes }: Changing): Promise<void> {
  await assertUnchanged(world, kind, { object, isRemoval: false })
  const document = documentOf(step)
  await kind.change?.(world, { document, live: object, changes })
}

/** @throws CliError where somebody has changed the object since it was read. */
async function assertUnchanged(
  world: World,
  kind: Kind,
  { object, isRemoval }: { readonly object: LiveObject; readonly isRemoval: boolean },
): Promise<void> {
  const revision = kind.revision ?? ['updated_at']
  // What the run itself has created has no row.
  if (kind.reread === undefined || revision.every((member) => object.row[member] === undefined)) return
  const now = await kind.reread(world, object)
  if (revision.every((member) => isUnchanged(object.row[member], now[member], isRemoval))) return
  throw new CliError(`${titleOf(object)} has changed since it was read`, {
    exitCode: EXIT.conflict,
    code: 'plan_stale',
    hints: ['It is as the other change left it. Look at the difference: ctl diff DIR'],
  })
}

/** Removals of other objects take them out of the lists of this one. */
function isUnchanged(before: unknown, now: unknown, isRemoval: boolean): boolean {
  if (isSame(before, now)) return true
  return isRemoval && Array.isArray(before) && Array.isArray(now) && now.every((entry) => before.includes(entry))
}

async function writeLabels(
  { api, names }: World,
  { labels }: Kind,
  { object, changes }: { readonly object: LiveObject; readonly changes: readonly Change[] },
): Promise<void> {
  for (const { member, to } of changes) {
    const key = member.slice('labels.'.length)
    const body = { qualified_key: names.qualifiedKey(key), value: sentValue(names, key, to) }
    await api.call('PutObjectLabel', { kind: labels, id: object.id, body })
  }
}

/** The document that the changes of a creation add up to; of a change, its changed members. */
function documentOf({ kind, name, changes }: Step): Document {
  const members: Record<string, unknown> = {}
  for (const { member, to } of changes) {
    const [first = '', ...rest] = member.split('.')
    if (rest.length === 0) members[first] = to
    else if (first !== 'labels') members[first] = [...asList(members[first]), ...(to === undefined ? [] : [to])]
  }
  return { kind, name, members }
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isLabel({ member }: Change): boolean {
  return member.startsWith('labels.')
}

function isMark({ member }: Change): boolean {
  return member === `labels.${MANAGED_BY}`
}

function labelChanges({ action, changes }: Step): readonly Change[] {
  return changes.filter((change) => isLabel(change) && !(action === 'create' && isMark(change)))
}

function laterChanges({ later }: Kind, { changes }: Step): readonly Change[] {
  return later === undefined ? [] : changes.filter(({ member }) => member.startsWith(`${later}.`))
}

/** What the kind writes by itself: all but labels, and for a creation all but what comes later. */
function ownChanges(kind: Kind, step: Step): readonly Change[] {
  const later = step.action === 'create' ? new Set(laterChanges(kind, step)) : new Set<Change>()
  return step.changes.filter((change) => !isLabel(change) && !later.has(change))
}
