import { isRow, type Row } from '../../output/members.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { titleOf, type Document, type LiveObject } from '../document.ts'
import { unlessGone } from '../unless-gone.ts'
import type { Kind, World, Writing } from '../kind.ts'
import { canonical } from '../canonical.ts'
import type { ValueSchema } from '../schema/value-schema.ts'
import { entriesOf, picked, text } from './member-sets.ts'

const ROLE: ValueSchema = {
  type: 'object',
  properties: {
    on: { type: 'string', description: 'domain, project:NAME or resource:PROJECT/NAME; others as TYPE:ID' },
    role: { type: 'string', description: 'Role, such as admin, operator or viewer' },
    project: { type: 'string', description: 'Project of an object that does not name its own' },
    caveat_context: { type: 'object', description: 'Values of the caveat of the role' },
  },
  required: ['on', 'role'],
  additionalProperties: false,
}

/** What somebody may do: the roles of one subject in the Domain and in its Projects. */
export const grants: Kind = {
  name: 'grants',
  nouns: ['grants', 'tuples'],
  omitted: { 'roles on single nodes': 'The API lists roles by Domain and by Project; these are in neither list' },
  summary: 'The roles of a person, a service identity or a group',
  naming: { pattern: /^(user|service|group):.+$/su, describe: 'a subject such as group:ops' },
  members: () => [
    {
      name: 'roles',
      rule: 'additive',
      schema: { type: 'array', items: ROLE, description: 'Roles; others of the subject stay' },
      isRequired: true,
      about: bindingOf,
    },
  ],
  async read(world) {
    const { api, names, live } = world
    const ofDomain = (await api.all('ListDomainGrants', { id: names.domainId })).map((row) => ({
      row,
      project: undefined,
    }))
    const lists = await api.each(live.get('project') ?? [], async ({ id, name }) => {
      const tuples = await api.all('ListRelationTuples', { project_id: id })
      return tuples.map((row) => ({ row, project: name }))
    })
    const bySubject = new Map<string, { readonly role: Row; readonly row: Row }[]>()
    for (const { row, project } of [...ofDomain, ...lists.flat()]) {
      const subject = names.shownReference(text(row, 'subject'))
      const roles = bySubject.get(subject) ?? []
      roles.push({ role: roleOf(world, row, project), row })
      bySubject.set(subject, roles)
    }
    return [...bySubject].map(([name, roles]) => liveOf(name, roles))
  },
  owner: (name) => name,
  references: ({ name, members }) => [name, ...new Set(rolesIn(members).flatMap(neededBy))],
  async normal({ isKnown }, document) {
    return {
      roles: rolesIn(document.members)
        .map(storedRole)
        .filter((role) => needs(document, role).every(isKnown)),
    }
  },
  async create(world, writing) {
    await writeRoles(world, writing)
    return world.names.reference(writing.document.name) ?? ''
  },
  change: writeRoles,
  async remove(world, live) {
    for (const row of Object.values(tupleRows(live))) await unlessGone(() => removeTuple(world, row))
  },
  heldUnder(_world, { changes }) {
    const isAdmin = ({ to }: { readonly to?: unknown }): boolean =>
      isRow(to) && to['on'] === 'domain' && to['role'] === 'admin'
    return changes.some(isAdmin) ? 'access.admin' : undefined
  },
}

/** What has to be there before a role can be given: the object, and the Project that its tuple belongs to. */
function neededBy(role: Row): readonly string[] {
  const on = text(role, 'on')
  const project = projectOf(role)
  return on === 'domain' || project === '' ? [on] : [on, `project:${project}`]
}

/** A role on an object, whatever its caveat: with another caveat in the file it is replaced. */
function bindingOf(entry: unknown): string {
  return canonical(isRow(entry) ? picked(entry, ['on', 'role', 'project']) : entry)
}

/**
 * A role as `read` gives it: of a caveat's context the name of the caveat, and of all other members the names alone; the Project only
 * where the object does not name it.
 */
function storedRole({ project, ...named }: Row): Row {
  const role = project === undefined || project === projectOf(named) ? named : { ...named, project }
  const context = role['caveat_context']
  if (!isRow(context)) return role
  const stored = Object.entries(context).map(([name, value]) => [name, name === 'caveat_name' ? value : null] as const)
  return { ...role, caveat_context: Object.fromEntries(stored) }
}

/** @throws CliError for a role that the API cannot give as the file has it. */
function needs(document: Document, role: Row): readonly string[] {
  const on = text(role, 'on')
  if (on === 'domain' && role['caveat_context'] !== undefined)
    throw wrongRole(
      document,
      'a role on the Domain has no caveat',
      'Take caveat_context away, or grant it on Projects.',
    )
  if (on !== 'domain' && projectOf(role) === '')
    throw wrongRole(document, `a role on ${on} needs the Project`, 'Add to the role: project: NAME')
  return neededBy(role)
}

function wrongRole(document: Document, fault: string, hint: string): CliError {
  const options = { exitCode: EXIT.invalid, code: 'invalid_files', hints: [hint] }
  return new CliError(`${titleOf(document)}: ${fault}`, options)
}

function roleOf({ names }: World, row: Row, project: string | undefined): Row {
  const on = names.shownReference(text(row, 'resource'))
  const namesItsProject = project === undefined || project === projectOf({ on })
  return {
    on,
    role: text(row, 'relation'),
    ...(!namesItsProject && { project }),
    ...(isRow(row['caveat_context']) && { caveat_context: row['caveat_context'] }),
  }
}

function liveOf(name: string, roles: readonly { readonly role: Row; readonly row: Row }[]): LiveObject {
  const sorted = roles.toSorted((one, other) => (canonical(one.role) < canonical(other.role) ? -1 : 1))
  const row = Object.fromEntries(sorted.map((one) => [canonical(one.role), one.row]))
  return { kind: 'grants', name, id: name, members: { roles: sorted.map(({ role }) => role) }, row }
}

function tupleRows({ row }: LiveObject): Readonly<Record<string, Row>> {
  return Object.fromEntries(Object.entries(row).flatMap(([key, value]) => (isRow(value) ? [[key, value]] : [])))
}

function rolesIn(members: Row): readonly Row[] {
  return Array.isArray(members['roles']) ? members['roles'].filter(isRow) : []
}

async function writeRoles(world: World, writing: Writing): Promise<void> {
  const subject = world.names.reference(writing.document.name)
  for (const { from, to } of entriesOf(writing, 'roles')) {
    const present = writing.live && tupleRows(writing.live)[canonical(from)]
    if (!isRow(to)) await unlessGone(async () => present && removeTuple(world, present))
    else if (subject !== undefined) await putTuple(world, { present, tuple: tupleOf(world, subject, to), role: to })
  }
}

function tupleOf({ names }: World, subject: string, role: Row): Row {
  const caveat = role['caveat_context']
  const resource = names.reference(text(role, 'on'))
  return { subject, relation: role['role'], resource, ...(caveat !== undefined && { caveat_context: caveat }) }
}

interface Putting {
  /** The tuple that is replaced: it ends before the new one begins. */
  readonly present: Row | undefined
  readonly tuple: Row
  readonly role: Row
}

async function putTuple({ api, names }: World, { present, tuple, role }: Putting): Promise<void> {
  if (present !== undefined) await api.call('PatchRelationTuple', { id: present['id'], body: tuple })
  else if (text(role, 'on') === 'domain')
    await api.call('CreateDomainGrant', { id: names.domainId, body: picked(tuple, ['subject', 'relation']) })
  else await api.call('CreateRelationTuple', { project_id: names.idOf('project', projectOf(role)), body: tuple })
}

/** The Project of a role: `project:web` and `resource:web/edge` name their own. Empty where there is none. */
function projectOf(role: Row): string {
  return text(role, 'project') || (/^(?:project:|[^:]+:(?=[^/]+\/))([^/]+)/.exec(text(role, 'on'))?.[1] ?? '')
}

async function removeTuple({ api, names }: World, row: Row): Promise<void> {
  if (text(row, 'resource') === `domain:${names.domainId}`)
    await api.call('DeleteDomainGrant', { id: names.domainId, tuple_id: row['id'] })
  else await api.call('DeleteRelationTuple', { id: row['id'] })
}
