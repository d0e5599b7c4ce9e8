import { parseReference } from '../../../shared/ids.ts'
import { ROLES } from '../../../shared/roles.ts'
import type { Explanation, ProposedTuple } from './explanation.ts'
import type { Naming } from './naming.ts'

/** What writes a tuple. */
export interface GrantingDeps {
  readonly naming: Naming
  /** The Project, `project:<id>`, of an object; undefined if it is not known. */
  readonly projectOf: (object: string) => string | undefined
}

/** The command that writes a tuple; undefined where none does. */
export function grantingCommand(
  { subject, relation, resource }: ProposedTuple,
  deps: GrantingDeps,
): string | undefined {
  const type = parseReference(resource)?.type ?? ''
  if (ROLES[type]?.includes(relation) !== true) return undefined
  return (COMMANDS[type] ?? ofProject)({ subject, relation, resource }, deps)
}

type Writing = (tuple: ProposedTuple, deps: GrantingDeps) => string | undefined

const none: Writing = () => undefined

/** One verb grants; an object in a Project is looked up in it. Groups have a command of their own, clouds have none. */
const COMMANDS: Readonly<Record<string, Writing>> = {
  platform: granting,
  domain: granting,
  project: granting,
  node: granting,
  group: ({ subject, resource }, { naming }) =>
    `ctl groups add-member ${naming.typedObject(resource)} ${naming.typed(subject)}`,
  cloud: none,
  cloudcredential: none,
  provider_bundle: none,
}

function granting({ subject, relation, resource }: ProposedTuple, { naming }: GrantingDeps): string {
  return `ctl grants create ${naming.typed(subject)} ${relation} ${naming.typed(resource)}`
}

function ofProject(tuple: ProposedTuple, deps: GrantingDeps): string | undefined {
  const project = deps.projectOf(tuple.resource)
  return project && `${granting(tuple, deps)} --project ${deps.naming.typedObject(project)}`
}

/**
 * Sets of tuples with those that give least first: fewer tuples before more, objects in the order in which they were
 * proposed, and of the roles on one object that which allows least.
 */
export function leastFirst(remedies: readonly Remedy[]): readonly Remedy[] {
  const objects = [...new Set(remedies.flatMap((tuples) => tuples.map(({ resource }) => resource)))]
  const rank = ({ relation, resource }: ProposedTuple): number =>
    ROLES[parseReference(resource)?.type ?? '']?.indexOf(relation) ?? -1
  const keys = (tuples: Remedy): readonly number[] => [
    tuples.length,
    ...tuples.flatMap((tuple) => [objects.indexOf(tuple.resource), rank(tuple)]),
  ]
  return remedies.toSorted((one, other) => firstDifference(keys(one), keys(other)))
}

type Remedy = readonly ProposedTuple[]

function firstDifference(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index])
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}

/** The Project of each object that a tree found in one. */
export function projectsIn(tree: Explanation): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  collectProjects(tree, found)
  return found
}

function collectProjects(node: Explanation, found: Map<string, string>): void {
  const project = projectBeside(node)
  if (node.object !== undefined && project !== undefined) found.set(node.object, project)
  for (const part of node.parts) collectProjects(part, found)
}

function projectBeside({ kind, name, subject }: Explanation): string | undefined {
  return kind === 'tuple' && name === 'project' ? subject : undefined
}
