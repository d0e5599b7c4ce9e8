import type { labels } from '../../../shared/contract/labels.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import { qualifiedKey, scopeText, type DefinitionRecord, type DefinitionScope } from '../../labels/definition.ts'
import { refusedLabel, requireValueSchema } from '../../labels/label-value.ts'

type Operations = (typeof labels)['operations']
export type CreateBody = Input<Operations['CreateLabelDefinition']>['body']
export type PatchBody = Input<Operations['UpdateLabelDefinition']>['body']
type Answer = Result<Operations['GetLabelDefinition']>

const RESERVED = ['platform/', 'system.', 'ctl.'] as const

/** @throws Problem `aggregate_invariant` for a key that callers may not define, and for a contradictory value schema. */
export function assertDefinable({ local_key: key, value_schema: schema }: CreateBody): void {
  const prefix = RESERVED.find((reserved) => key.startsWith(reserved))
  if (prefix !== undefined) throw refusedLabel(`Keys that begin with ${prefix} are reserved.`)
  requireValueSchema(schema)
}

/** Where and when a Definition is created. */
export interface Creation {
  readonly id: string
  readonly scope: DefinitionScope
  readonly at: Date
}

const DEFAULTS = { description: '', on_delete: 'block', immutable: false, inherit: false } as const

/** The row of a new Definition, its defaults filled in. */
export function newDefinition({ id, scope, at }: Creation, body: CreateBody): DefinitionRecord {
  const { scope: _scope, kinds = [], local_key, value_schema, ...members } = body
  return {
    ...DEFAULTS,
    ...named(members),
    id,
    ...scope,
    local_key,
    value_schema,
    qualified_key: qualifiedKey(scope, local_key),
    kinds: distinct(kinds),
    system: false,
    granted: true,
    implicit: false,
    created_at: at,
    updated_at: at,
  }
}

/** The members that are there; JSON has no undefined ones. */
function named<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  // The members are those of the argument.
  return Object.fromEntries(entries) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
}

const distinct = (kinds: readonly string[]): string[] => [...new Set(kinds)]

/** Members that decide how a system label works; those who rely on it could not follow a change. */
const FIXED_OF_SYSTEM = ['on_delete', 'immutable', 'inherit', 'kinds'] as const

/**
 * The Definition after a patch.
 * @throws Problem `immutable_violation`, `aggregate_invariant`
 */
export function patchedDefinition(found: DefinitionRecord, body: PatchBody, at: Date): DefinitionRecord {
  const { scope: _scope, local_key: _key, kinds = found.kinds, ...members } = body
  const takesBack = found.immutable && members.immutable === false
  if ('scope' in body || 'local_key' in body || takesBack) throw problem('immutable_violation')
  if (members.value_schema !== undefined) requireValueSchema(members.value_schema)
  // Who manages the scope has taken it over.
  const next = { ...found, ...named(members), kinds: distinct(kinds), implicit: false, updated_at: at }
  if (found.system) assertSystemKept(found, next)
  return next
}

function assertSystemKept(found: DefinitionRecord, next: DefinitionRecord): void {
  const changed = FIXED_OF_SYSTEM.find((member) => JSON.stringify(found[member]) !== JSON.stringify(next[member]))
  if (changed !== undefined)
    throw refusedLabel(`Of ${found.qualified_key}, only the description and the value schema may be changed.`)
}

/** The Definition as the API shows it. */
export function toAnswer(definition: DefinitionRecord): Answer {
  const { id, local_key, qualified_key, description, on_delete, immutable, inherit, system } = definition
  return {
    id,
    scope: scopeText(definition),
    local_key,
    qualified_key,
    description,
    on_delete,
    immutable,
    inherit,
    system,
    // What the contract admitted: the answer's types differ only in being mutable, and in naming the kinds.
    value_schema: definition.value_schema as Answer['value_schema'],
    kinds: definition.kinds as Answer['kinds'],
    created_at: definition.created_at.toISOString(),
    updated_at: definition.updated_at.toISOString(),
  }
}
