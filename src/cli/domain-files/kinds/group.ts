import type { Row } from '../../output/members.ts'
import type { Kind, World, Writing } from '../kind.ts'
import { SLUG } from '../naming.ts'
import { unlessGone } from '../unless-gone.ts'
import { entriesOf, LABELS, picked, replaced, required, ruled, text, TEXTS, valuesOf } from './member-sets.ts'

const MEMBERS = ['display_name']

/** Groups with their members. Members of a group that mirrors one of the identity provider are the provider's. */
export const group: Kind = {
  name: 'group',
  nouns: ['groups'],
  summary: 'A group and its members',
  naming: SLUG,
  members: (manifest) => [
    ...valuesOf(manifest, 'CreateGroup', MEMBERS).map(required),
    ...valuesOf(manifest, 'CreateGroup', ['provider_group']).map((member) => ruled(member, 'fixed')),
    {
      name: 'members',
      rule: 'additive',
      schema: { ...TEXTS, description: 'user:NAME, service:NAME or group:NAME; others of the group stay' },
    },
    LABELS,
  ],
  labels: 'group',
  async read({ api, names }) {
    const rows = await api.all('ListGroups', { id: names.domainId })
    rows.forEach((row) => names.add('group', text(row, 'slug'), text(row, 'id')))
    return api.each(rows, async (row) => {
      const isMirror = typeof row['provider_group'] === 'string'
      const detail = isMirror ? {} : await api.call('GetGroup', { id: names.domainId, group_id: row['id'] })
      const subjects = membersIn(detail)
      const members = subjects.map((subject) => names.shownReference(subject)).toSorted()
      return {
        kind: 'group',
        name: text(row, 'slug'),
        id: text(row, 'id'),
        members: {
          ...picked(row, MEMBERS),
          ...(isMirror && { provider_group: row['provider_group'] }),
          ...(members.length > 0 && { members }),
        },
        row: { ...row, members: subjects.toSorted() },
      }
    })
  },
  references: ({ members }) => membersIn(members),
  async normal({ isKnown }, { members }) {
    const { members: named, ...others } = members
    return named === undefined ? others : { ...others, members: membersIn(members).filter(isKnown).toSorted() }
  },
  later: 'members',
  async create(world, { document, managedBy }) {
    const members = picked(document.members, [...MEMBERS, 'provider_group'])
    const body = { slug: document.name, ...members, managed_by: managedBy }
    const row = await world.api.call('CreateGroup', { id: world.names.domainId, body })
    world.names.add('group', document.name, text(row, 'id'))
    return text(row, 'id')
  },
  async change(world, writing) {
    const { live, changes } = writing
    const body = replaced(changes, MEMBERS)
    const place = { id: world.names.domainId, group_id: live.id }
    if (Object.keys(body).length > 0) await world.api.call('PatchGroup', { ...place, body })
    await writeMembers(world, live.id, writing)
  },
  async remove({ api, names }, { id }) {
    await api.call('DeleteGroup', { id: names.domainId, group_id: id })
  },
  async reread({ api, names }, { id, members: { provider_group: mirrored } }) {
    const row = await api.call('GetGroup', { id: names.domainId, group_id: id })
    // The members of a mirror come and go with the identity provider.
    return { ...row, members: mirrored === undefined ? membersIn(row).toSorted() : [] }
  },
  revision: ['display_name', 'members'],
  /** A member of a group that manages the Domain manages it. */
  heldUnder({ live: all }, { changes, document }) {
    const roles = all.get('grants')?.find(({ name }) => name === `group:${document.name}`)?.members['roles']
    const isAdded = changes.some(({ member, to }) => member.startsWith('members.') && to !== undefined)
    const isAdmin = Array.isArray(roles) && roles.some((role) => role?.on === 'domain' && role?.role === 'admin')
    return isAdded && isAdmin ? 'access.admin' : undefined
  },
}

async function writeMembers({ api, names }: World, group_id: string, writing: Pick<Writing, 'changes'>): Promise<void> {
  for (const { name, to } of entriesOf(writing, 'members')) {
    const subject = names.reference(name)
    if (subject === undefined) continue
    const input = { id: names.domainId, group_id, subject }
    if (to !== undefined) await api.call('PutGroupMember', input)
    else await unlessGone(() => api.call('DeleteGroupMember', input))
  }
}

function membersIn({ members }: Row): readonly string[] {
  return Array.isArray(members) ? members.map(String) : []
}
