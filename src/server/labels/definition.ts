import type { Selectable } from 'kysely'
import type { LabelDefinitionRow } from '../ports/tables/labels.ts'

/** A Definition as stored. */
export type DefinitionRecord = Selectable<LabelDefinitionRow>

/** The scope of a Definition. */
export type DefinitionScope = Pick<DefinitionRecord, 'scope_kind' | 'domain_id' | 'project_id'>

/** The scope as callers write it: `platform`, `domain:<id>` or `project:<id>`. */
export function scopeText({ scope_kind: kind, domain_id: domainId, project_id: projectId }: DefinitionScope): string {
  return kind === 'platform' ? kind : `${kind}:${kind === 'domain' ? domainId : projectId}`
}

/** The object that the scope is: its text, or `platform:main`. */
export function scopeObject(scope: DefinitionScope): string {
  return scope.scope_kind === 'platform' ? 'platform:main' : scopeText(scope)
}

/** `<scope>/<local key>`, by which labels are named everywhere. */
export function qualifiedKey(scope: DefinitionScope, localKey: string): string {
  return `${scopeText(scope)}/${localKey}`
}

/** The Definition as an object of the authorization model. */
export function definitionReference(id: string): string {
  return `labeldefinition:${id}`
}

/** The scope of the Definitions of a Domain. */
export function ofDomain(domainId: string): DefinitionScope {
  return { scope_kind: 'domain', domain_id: domainId, project_id: null }
}
