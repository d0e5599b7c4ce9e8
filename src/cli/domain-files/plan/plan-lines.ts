import { harmless, type Style } from '../../output/style.ts'
import { canonical } from '../canonical.ts'
import { titleOf } from '../document.ts'
import { removedEntries } from './compare.ts'
import type { Change, Plan, Step } from './plan.ts'

const MARKS = { create: '+', change: '~', remove: '-' } as const
const PAINTS = { create: 'good', change: 'warn', remove: 'bad' } as const

/** Longer values are cut; `-o json` has them whole. */
const VALUE_MAX = 160

/** The lines of a plan: each object with its changes, what waits, and the counts. */
export function planLines(plan: Plan, style: Style): readonly string[] {
  const steps = plan.steps.flatMap((step) => stepLines(step, style))
  const waits = plan.waits.map((wait) => `${style.warn('!')} ${harmless(titleOf(wait))}: ${harmless(wait.what)}`)
  return [...steps, ...waits, summaryOf(plan)]
}

function stepLines(step: Step, style: Style): readonly string[] {
  const paint = style[PAINTS[step.action]]
  const held =
    step.held === undefined ? '' : `  waits for ${counted(step.held.approvals, 'approval')} (${step.held.action})`
  return [
    `${paint(`${MARKS[step.action]} ${harmless(titleOf(step))}`)}${style.warn(held)}`,
    ...step.changes.flatMap((change) => changeLines(change, style)),
  ]
}

/** A list is shown by the entries that come and go. */
function changeLines({ member, from, to }: Change, style: Style): readonly string[] {
  const isRole = member.startsWith('roles.')
  const name = harmless(isRole ? 'roles' : member)
  if (Array.isArray(from) && Array.isArray(to)) {
    const [before, after] = [new Set(from.map(canonical)), new Set(to.map(canonical))]
    const gone = from.filter((one) => !after.has(canonical(one)))
    const come = to.filter((one) => !before.has(canonical(one)))
    const isOrder = gone.length === 0 && come.length === 0
    if (isOrder) return [`    ${name}: ${style.warn('other order')}`]
    return [
      ...gone.map((one) => style.bad(`  - ${name}: ${shown(one)}`)),
      ...come.map((one) => style.good(`  + ${name}: ${shown(one)}`)),
    ]
  }
  if (from === undefined) return [style.good(`  + ${name}: ${shown(to)}`)]
  if (to === undefined) return [style.bad(`  - ${name}: ${shown(from)}`)]
  const order = isRole ? style.warn(' (replaced: the old role ends first)') : ''
  return [`    ${name}: ${style.bad(shown(from))} -> ${style.good(shown(to))}${order}`]
}

function shown(value: unknown): string {
  const text = harmless(canonical(value))
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX - 1)}…`
}

/** What a plan does, in one sentence. */
export function summaryOf({ steps, waits, unnamed }: Plan): string {
  const count = (action: Step['action']): number => steps.filter((step) => step.action === action).length
  const inside = steps.reduce((sum, step) => sum + removalsIn(step), 0)
  const held = steps.filter((step) => step.held !== undefined).length
  const parts = [
    `${count('create')} to create, ${count('change')} to change, ${count('remove')} to remove`,
    ...(inside > 0 ? [`${counted(inside, 'removal')} inside objects`] : []),
    ...(held > 0 ? [`${held} will wait for approval`] : []),
    ...(waits.length > 0 ? [`${counted(waits.length, 'reference')} not there yet`] : []),
    ...(unnamed.length > 0
      ? [`${counted(unnamed.length, 'object')} of the set that no file names: --prune removes them`]
      : []),
  ]
  return steps.length === 0 && parts.length === 1 ? 'No changes.' : `Plan: ${parts.join('; ')}.`
}

/** Entries that a change takes away from an object that stays. */
function removalsIn({ action, changes }: Step): number {
  if (action !== 'change') return 0
  return changes.reduce((sum, change) => sum + removedEntries(change), 0)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
