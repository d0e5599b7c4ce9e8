import { parseScope } from '../../../shared/selectors/scope.ts'
import type { LabelType } from '../../../shared/labels/schema-types.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { LiveObject } from '../document.ts'
import type { Kind } from '../kind.ts'
import type { Names } from '../names.ts'
import { sortedValue } from '../canonical.ts'
import { picked, replaced, required, text, valuesOf } from './member-sets.ts'

const MEMBERS = ['description', 'value_schema', 'on_delete', 'immutable', 'inherit', 'kinds']

/** Definitions of the Domain and its Projects, named by key: `tier`, `project:web/weight`. */
export const labelDefinition: Kind = {
  name: 'label-definition',
  nouns: ['labels'],
  summary: 'The Definition of a label in the Domain or in a Project',
  naming: {
    pattern: /^(project:[a-z0-9-]+\/)?[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$/,
    describe: 'a key such as tier or project:web/weight',
  },
  members: (manifest) =>
    valuesOf(manifest, 'CreateLabelDefinition', MEMBERS).map((member) =>
      member.name === 'value_schema' ? required(member) : member,
    ),
  async read(world) {
    const { names, live } = world
    const scopes = [`domain:${names.domainId}`, ...(live.get('project') ?? []).map(({ id }) => `project:${id}`)]
    const lists = await world.api.each(scopes, (scope) => world.api.all('ListLabelDefinitions', { scope }))
    const platform = await world.api.all('ListLabelDefinitions', { scope: scopes[0], include: 'enclosing' })
    platform.filter((row) => row['scope'] === 'platform').forEach((row) => define(names, row))
    return lists.flat().map((row) => {
      define(names, row)
      return liveOf(names, row)
    })
  },
  // A Definition of a Project is always named with it.
  announce(names, { name, members }) {
    if (projectOf(name) !== undefined) return
    const scope = `domain:${names.domainId}`
    define(names, { ...members, id: name, scope, local_key: name, qualified_key: `${scope}/${name}` })
  },
  async create(world, { document }) {
    const body = { ...placeOf(world.names, document.name), ...picked(document.members, MEMBERS) }
    const row = await world.api.call('CreateLabelDefinition', { body })
    define(world.names, row)
    return text(row, 'id')
  },
  async change({ api }, { live, changes }) {
    await api.call('UpdateLabelDefinition', { id: live.id, body: replaced(changes, MEMBERS) })
  },
  async remove({ api }, { id }) {
    await api.call('DeleteLabelDefinition', { id })
  },
  owner: projectOf,
  references({ name }) {
    const project = projectOf(name)
    return project === undefined ? [] : [project]
  },
  reread: ({ api }, { id }) => api.call('GetLabelDefinition', { id }),
}

/** `project:web` of `project:web/weight`. */
function projectOf(name: string): string | undefined {
  return /^project:[a-z0-9-]+(?=\/)/.exec(name)?.[0]
}

/** The scope and the local key of a Definition. Its own name never means one of the platform. */
function placeOf(names: Names, name: string): { readonly scope: string; readonly local_key: string } {
  const project = projectOf(name)
  if (project === undefined) return { scope: `domain:${names.domainId}`, local_key: name }
  return { scope: names.reference(project) ?? project, local_key: name.slice(project.length + 1) }
}

function liveOf(names: Names, row: Row): LiveObject {
  const schema = sortedValue(row['value_schema'])
  const members = picked({ ...row, value_schema: schema }, MEMBERS)
  return {
    kind: 'label-definition',
    name: names.shownKey(text(row, 'qualified_key')),
    id: text(row, 'id'),
    members,
    row,
  }
}

function define(names: Names, row: Row): void {
  const scope = parseScope(text(row, 'scope'))
  const schema = row['value_schema']
  if (scope === undefined || !isRow(schema)) return
  names.define({
    id: text(row, 'id'),
    scope,
    localKey: text(row, 'local_key'),
    qualifiedKey: text(row, 'qualified_key'),
    type: schema['type'] as LabelType, // The contract has no other types.
    inherit: row['inherit'] === true,
    members: row,
  })
}
