import type { Kind } from '../kind.ts'
import { isRow } from '../../output/members.ts'
import { LABELS, text } from './member-sets.ts'

/** Labels of nodes. Nodes join and leave by themselves: no file creates or deletes one. */
export const node: Kind = {
  name: 'node',
  nouns: ['nodes'],
  omitted: {
    'ephemeral nodes': 'They leave by themselves; a file that names one waits until a node of that name joins',
  },
  summary: 'The labels of a node',
  naming: { pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, describe: 'the name of a node' },
  members: () => [LABELS],
  labels: 'node',
  async read({ api, names }) {
    const rows = await api.all('ListNodes', { domain_id: names.domainId })
    return rows.flatMap((row) => {
      const id = text(row, 'id')
      const name = text(row, 'name') || text(row, 'display_name')
      names.add('node', name, id)
      const labels = isRow(row['labels']) ? row['labels'] : {}
      const members = Object.keys(labels).length > 0 ? { labels } : {}
      // A node that leaves by itself is nothing to keep.
      return row['ephemeral'] === true ? [] : [{ kind: 'node', name, id, members, row }]
    })
  },
}
