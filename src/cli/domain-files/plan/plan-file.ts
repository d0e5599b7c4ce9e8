import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError, usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { isRow } from '../../output/members.ts'
import { isSame } from '../canonical.ts'
import { keyOf, titleOf, type LiveObject } from '../document.ts'
import { othersDigest } from './compare.ts'
import type { Plan, Step } from './plan.ts'

/** Reads a plan that `ctl diff --save-plan` wrote. @throws CliError for any other file. */
export async function readPlan(path: string, cwd: string): Promise<Plan> {
  const text = await readFile(resolve(cwd, path), 'utf8').catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${path} cannot be read (${code})`)
  })
  const value = parsed(text)
  if (!isPlan(value)) throw usageError(`${path} is no plan`, 'Save one with: ctl diff DIR --save-plan FILE')
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller says that it is no plan.
  }
}

function isPlan(value: unknown): value is Plan {
  if (!isRow(value)) return false
  const texts = [value['set'], value['domain'], value['files']].every((one) => typeof one === 'string')
  const { steps, format, prune, adopt } = value
  const areOptions = (prune === undefined || Number.isSafeInteger(prune)) && (adopt === undefined || adopt === true)
  return format === 1 && texts && areOptions && Array.isArray(steps) && steps.every(isStep)
}

function isStep(step: unknown): boolean {
  if (!isRow(step)) return false
  const { kind, name, changes, others } = step
  return [kind, name, others].every((one) => typeof one === 'string') && Array.isArray(changes) && changes.every(isRow)
}

/** What a saved plan is checked against. */
export interface Present {
  /** The plan that the files give now. */
  readonly plan: Plan
  readonly live: ReadonlyMap<string, LiveObject>
}

/**
 * Refuses a saved plan that no longer holds: the files say something else, or an object has changed since. What an earlier run of the
 * same plan has done is no change, so that the plan can be applied again after an interruption.
 *
 * @throws CliError that names the objects. Nothing has been applied.
 */
export function assertHolds(saved: Plan, { plan, live }: Present): void {
  if (saved.files !== plan.files || saved.domain !== plan.domain || saved.set !== plan.set)
    throw stale('the files, the set or the Domain are not those of the plan', [])
  const planned = new Map(saved.steps.map((step) => [keyOf(step), step]))
  const left = new Map(plan.steps.map((step) => [keyOf(step), step]))
  const changed = [
    ...saved.steps.filter((step) => !isUntouched(step, { left: left.get(keyOf(step)), live: live.get(keyOf(step)) })),
    ...plan.steps.filter((step) => !planned.has(keyOf(step))),
  ]
  if (changed.length === 0) return
  const named = changed.slice(0, 20).map((step) => `  ${titleOf(step)}`)
  throw stale(
    `${changed.length === 1 ? 'an object has' : `${changed.length} objects have`} changed since the plan was made`,
    named,
  )
}

function isUntouched(
  step: Step,
  { left, live }: { readonly left: Step | undefined; readonly live: LiveObject | undefined },
): boolean {
  if (step.action === 'remove') return live === undefined || isRemovalOf(step, { left, live })
  if (live === undefined) return step.action === 'create' && left !== undefined
  // A creation that was interrupted has written a part of its own changes and nothing else.
  const isOwnRest = (left?.changes ?? []).every((change) => step.changes.some((one) => isSame(one, change)))
  return isOwnRest && (step.action === 'create' || othersDigest(live.members, step.changes) === step.others)
}

function isRemovalOf(
  { others }: Step,
  { left, live }: { readonly left: Step | undefined; readonly live: LiveObject },
): boolean {
  return left?.action === 'remove' && othersDigest(live.members, []) === others
}

function stale(message: string, hints: readonly string[]): CliError {
  return new CliError(message, {
    exitCode: EXIT.conflict,
    code: 'plan_stale',
    hints: [
      ...hints,
      'Nothing has been applied. Look at the difference and save a new plan: ctl diff DIR --save-plan FILE',
    ],
  })
}
