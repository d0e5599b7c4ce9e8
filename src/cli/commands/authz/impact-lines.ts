import type { PermissionChange } from '../../../shared/authz/impact.ts'
import { harmless, type Style } from '../../output/style.ts'
import { changesAnything, type Impact } from './impact-answer.ts'
import type { Naming } from './naming.ts'

/** Groups that are listed. */
const LINES_MAX = 20
/** Objects that are named of one group. */
const NAMED_MAX = 5

/** What somebody gains or loses alike on several objects. */
interface Group {
  readonly change: PermissionChange['change']
  readonly subject: string
  readonly permissions: readonly string[]
  readonly resources: readonly string[]
}

/** Who gains or loses which permissions on what, one line for all objects on which they are the same. */
export function impactLines(impact: Impact, naming: Naming, style: Style): readonly string[] {
  const groups = grouped(impact.changes)
  const shown = groups.slice(0, LINES_MAX)
  const listed = shown.reduce((sum, { permissions, resources }) => sum + permissions.length * resources.length, 0)
  const more = impact.count - impact.hidden_count - listed
  return [
    ...shown.map((group) => groupLine(group, naming, style)),
    ...(more > 0 ? [style.dim(`and ${more} more`)] : []),
  ]
}

function groupLine({ change, subject, permissions, resources }: Group, naming: Naming, style: Style): string {
  const named = resources
    .slice(0, NAMED_MAX)
    .map((one) => naming.shown(one))
    .join(', ')
  const more = resources.length > NAMED_MAX ? ` and ${resources.length - NAMED_MAX} more` : ''
  const mark = change === 'gains' ? style.good('+') : style.bad('-')
  return `${mark} ${harmless(`${subjectText(subject, naming)} ${change} ${permissions.join(', ')} on ${named}`)}${more}`
}

function subjectText(subject: string, naming: Naming): string {
  return subject.endsWith(':*') ? `everyone (${naming.shown(subject)})` : naming.shown(subject)
}

function grouped(changes: readonly PermissionChange[]): readonly Group[] {
  const byObject = new Map<string, { change: PermissionChange; permissions: string[] }>()
  for (const change of changes) {
    const key = JSON.stringify([change.change, change.subject, change.resource])
    const known = byObject.get(key) ?? { change, permissions: [] }
    known.permissions.push(change.permission)
    byObject.set(key, known)
  }
  const groups = new Map<string, Group & { resources: string[] }>()
  for (const { change, permissions } of byObject.values()) {
    const key = JSON.stringify([change.change, change.subject, permissions])
    const known = groups.get(key) ?? { change: change.change, subject: change.subject, permissions, resources: [] }
    known.resources.push(change.resource)
    groups.set(key, known)
  }
  return [...groups.values()]
}

/** `Would change 7 permissions: 5 gained, 2 lost. Nothing was done.` */
export function impactSummary(impact: Impact): string {
  if (!changesAnything(impact)) return 'Nothing would change.'
  const { changes, count, hidden_count: hidden, complete } = impact
  const least = complete ? '' : 'at least '
  const gained = changes.filter(({ change }) => change === 'gains').length
  const split = changes.length === count && complete ? `: ${gained} gained, ${count - gained} lost` : ''
  const unseen = hidden === 0 ? '' : ` ${hidden} of them on what you may not see.`
  return `Would change ${least}${count} permission${count === 1 ? '' : 's'}${split}.${unseen} Nothing was done.`
}
