import type { Kind } from '../kind.ts'
import { SLUG_IN_PROJECT } from '../naming.ts'
import { text } from './member-sets.ts'

/** Secrets by name alone: a file says that there is one, and never what it is. */
export const secret: Kind = {
  name: 'secret',
  nouns: ['secrets'],
  summary: 'A secret that is to exist; its value is in no file',
  naming: SLUG_IN_PROJECT,
  members: () => [],
  async read({ api, live }) {
    const lists = await api.each(live.get('project') ?? [], async (project) => {
      const rows = await api.all('ListSecrets', { id: project.id })
      return rows.map((row) => ({
        kind: 'secret',
        name: `${project.name}/${text(row, 'name')}`,
        id: text(row, 'id'),
        members: {},
        row,
      }))
    })
    return lists.flat()
  },
}
