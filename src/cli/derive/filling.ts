import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import type { Given } from '../argv/command.ts'
import type { FlagValue } from '../argv/flags.ts'
import type { Resolver } from '../session/references.ts'
import type { Resolved } from '../session/pick.ts'
import { selectorText } from '../argv/selector.ts'
import type { Session } from '../session/session.ts'
import type { Failures } from './failures.ts'
import type { Member } from './members.ts'
import type { Target } from './plan.ts'
import { secretFrom } from './secret-file.ts'
import { apiValue } from './values.ts'

/** An input on its way from the command line to the API. */
export interface Filling {
  readonly session: Session
  readonly given: Given
  readonly operation: ManifestOperation
  readonly resolver: Resolver
  /** Ids found so far, by noun: where further names are looked up. */
  readonly scope: Record<string, string | undefined>
  readonly input: Record<string, unknown>
  readonly body: Record<string, unknown>
  readonly labels: Record<string, string>
  readonly failures?: Failures | undefined
}

/** What was typed for a member. */
export function rawOf({ position, word }: Member, { args, flags }: Given): FlagValue | undefined {
  return position === undefined ? flags[word] : args[position]
}

/** A member's value: an object that a reference names, or the text as the API takes it. */
export type Value = { readonly object: Resolved } | { readonly plain: unknown; readonly label?: string }

/** Reads one typed value. Looks references up. */
export async function valueOf(filling: Filling, member: Member, raw: FlagValue): Promise<Value> {
  const { session, resolver } = filling
  if (member.field.writeOnly === true) return { plain: await secretFrom(String(raw), member, session) }
  if (raw === false && member.field.nullable === true) return { plain: null }
  if (member.isSelector) return { plain: await selectorText(raw, resolver) }
  if (member.noun === undefined) return { plain: apiValue(member, raw, session.io.nowMs()) }
  return referenceOf(filling, member.noun, raw)
}

async function referenceOf({ resolver, scope }: Filling, noun: string, raw: FlagValue): Promise<Value> {
  if (typeof raw === 'string') {
    if (noun === 'subjects') return { plain: await resolver.subject(raw, scope), label: raw }
    if (noun === 'objects') return { plain: await resolver.resource(raw, scope), label: raw }
    return { object: await resolver.object(noun, raw, scope) }
  }
  const ids: string[] = []
  for (const text of Array.isArray(raw) ? raw : []) ids.push((await resolver.object(noun, String(text), scope)).id)
  return { plain: ids }
}

/** Puts a value in its place. */
export function put(filling: Filling, { field, place, noun }: Member, value: Value): void {
  const isObject = 'object' in value
  const label = isObject ? value.object.label : value.label
  if (label !== undefined) filling.labels[field.name] = label
  if (isObject && noun !== undefined) filling.scope[noun] ??= value.object.id
  const goal = place === 'body' ? filling.body : filling.input
  goal[field.name] = isObject ? value.object.id : value.plain
}

/** A copy to put further members into. */
export function copied(filling: Filling): Filling {
  return { ...filling, input: { ...filling.input }, body: { ...filling.body }, labels: { ...filling.labels } }
}

/** The call that the filling has become. */
export function finished({ operation, input, body, labels }: Filling, object: Resolved | undefined): Target {
  const hasBody = operation.body !== undefined && (operation.body.required || Object.keys(body).length > 0)
  return { input: hasBody ? { ...input, body } : input, labels, object }
}
