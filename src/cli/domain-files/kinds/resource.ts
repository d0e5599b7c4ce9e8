import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { LiveObject } from '../document.ts'
import type { Kind, Member, World } from '../kind.ts'
import { inProject, SLUG_IN_PROJECT } from '../naming.ts'
import { partMembers, readParts, writeParts } from './bridge-parts.ts'
import { LABELS, picked, replaced, required, ruled, text, TEXTS, valuesOf } from './member-sets.ts'

const HOSTS: Member = {
  name: 'hosts',
  rule: 'value',
  schema: {
    ...TEXTS,
    description: 'Names of the nodes that host it; nodes that have not joined are left out until they do',
  },
}

/** Bridges, networks, workloads and machines of the Projects. A bridge has its parts. */
export const resource: Kind = {
  name: 'resource',
  nouns: ['resources', 'bridge'],
  omitted: { 'user-access peers': 'Devices of people, whose keys are in no file' },
  summary: 'A bridge, network, workload or machine of a Project',
  naming: SLUG_IN_PROJECT,
  members: membersOf,
  labels: 'resource',
  async read(world) {
    const { api, names, live } = world
    const lists = await api.each(live.get('project') ?? [], async (project) => {
      const rows = await api.all('ListResources', { id: project.id })
      return rows.map((row) => ({ row, name: `${project.name}/${text(row, 'slug')}` }))
    })
    return api.each(lists.flat(), async ({ row, name }) => {
      names.add('resource', name, text(row, 'id'))
      return liveOf(world, name, row)
    })
  },
  owner: (name) => `project:${inProject(name).project}`,
  references({ name, members }) {
    const nodes = [...listed(members['hosts']), ...targetsOf(members['ingress'])]
    return [`project:${inProject(name).project}`, ...nodes.map((node) => `node:${node}`)]
  },
  /** Without nodes that have not joined: they are compared once they have. */
  async normal({ isKnown, live }, { name: own, members }) {
    const isThere = (node: unknown): boolean => isKnown(`node:${String(node)}`)
    const present = live.get('resource')?.find(({ name }) => name === own)?.members['ingress']
    const known = Object.entries(members).map(([name, value]): readonly [string, unknown] => {
      if (name === 'hosts') return [name, listed(value).filter(isThere).toSorted()]
      if (name !== 'ingress') return [name, value]
      // A rule whose node has not joined stays as it is.
      return [name, rulesIn(value).flatMap((part) => (isThere(part['target_node']) ? part : bySlug(present, part)))]
    })
    return Object.fromEntries(known)
  },
  async create(world, writing) {
    const { document, managedBy } = writing
    const { project, slug } = inProject(document.name)
    const id = world.names.idOf('project', project)
    const host_node_ids = nodeIds(world, document.members['hosts'])
    const body = {
      slug,
      kind: document.members['type'],
      ...picked(document.members, ['display_name']),
      ...(host_node_ids.length > 0 && { host_node_ids }),
      managed_by: managedBy,
    }
    const row = await world.api.call('CreateResource', { id, body })
    world.names.add('resource', document.name, text(row, 'id'))
    const live = { ...(await liveOf(world, document.name, row)), row }
    await writeParts(world, { ...writing, live })
    return live.id
  },
  async change(world, writing) {
    const { live, changes } = writing
    const hosts = changes.find(({ member }) => member === 'hosts')
    const body = {
      ...replaced(changes, ['display_name']),
      ...(hosts !== undefined && { host_node_ids: nodeIds(world, hosts.to) }),
    }
    const input = { id: live.row['project_id'], resource_id: live.id }
    if (Object.keys(body).length > 0) await world.api.call('PatchResource', { ...input, body })
    await writeParts(world, writing)
  },
  async remove({ api }, { id, row }) {
    await api.call('DeleteResource', { id: row['project_id'], resource_id: id })
  },
  revision: ['updated_at', 'parts'],
  async reread(world, { id, row }) {
    return withParts(world, await world.api.call('GetResource', { id: row['project_id'], resource_id: id }))
  },
}

function membersOf(manifest: Manifest): readonly Member[] {
  const [kind, name] = valuesOf(manifest, 'CreateResource', ['kind', 'display_name']).map(required)
  if (kind === undefined || name === undefined) throw new Error('CreateResource has lost members')
  return [ruled({ ...kind, name: 'type' }, 'fixed'), name, HOSTS, ...partMembers(manifest), LABELS]
}

async function liveOf(world: World, name: string, row: Row): Promise<LiveObject> {
  const hosts = listed(row['host_node_ids']).map((id) => world.names.nameOf('node', id) ?? id)
  const whole = await withParts(world, row)
  const members = { type: row['kind'], ...picked(row, ['display_name']), hosts: hosts.toSorted(), ...whole.parts }
  return { kind: 'resource', name, id: text(row, 'id'), members, row: whole }
}

/** A bridge with its relay and its parts, whose changes leave the time of the bridge as it is. */
async function withParts(world: World, row: Row): Promise<Row & { readonly parts?: Row }> {
  return row['kind'] === 'bridge' ? { ...row, parts: await readParts(world, row) } : row
}

function nodeIds({ names }: World, hosts: unknown): readonly string[] {
  return listed(hosts).flatMap((name) => names.idOf('node', name) ?? [])
}

function listed(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function targetsOf(ingress: unknown): readonly string[] {
  return rulesIn(ingress)
    .map((part) => text(part, 'target_node'))
    .filter((name) => name !== '')
}

function rulesIn(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.filter(isRow) : []
}

function bySlug(value: unknown, { slug }: Row): readonly Row[] {
  return rulesIn(value).filter((part) => part['slug'] === slug)
}
