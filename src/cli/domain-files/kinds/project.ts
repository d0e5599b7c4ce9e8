import type { Kind } from '../kind.ts'
import { SLUG } from '../naming.ts'
import { LABELS, picked, replaced, required, text, valuesOf } from './member-sets.ts'

const MEMBERS = ['display_name']

/** Projects, named by slug. */
export const project: Kind = {
  name: 'project',
  nouns: ['projects'],
  summary: 'A Project of the Domain',
  naming: SLUG,
  members: (manifest) => [...valuesOf(manifest, 'CreateProject', MEMBERS).map(required), LABELS],
  labels: 'project',
  async read({ api, names }) {
    const rows = await api.all('ListProjects', { id: names.domainId })
    return rows.map((row) => {
      names.add('project', text(row, 'slug'), text(row, 'id'))
      return { kind: 'project', name: text(row, 'slug'), id: text(row, 'id'), members: picked(row, MEMBERS), row }
    })
  },
  async create({ api, names }, { document, managedBy }) {
    const body = { slug: document.name, ...picked(document.members, MEMBERS), managed_by: managedBy }
    const row = await api.call('CreateProject', { id: names.domainId, body })
    names.add('project', document.name, text(row, 'id'))
    return text(row, 'id')
  },
  async change({ api }, { live, changes }) {
    const body = replaced(changes, MEMBERS)
    if (Object.keys(body).length > 0) await api.call('PatchProject', { id: live.id, body })
  },
  async remove({ api }, { id }) {
    await api.call('DeleteProject', { id })
  },
  reread: ({ api }, { id }) => api.call('GetProject', { id }),
}
