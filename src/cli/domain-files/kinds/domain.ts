import type { Kind } from '../kind.ts'
import { LABELS, picked, replaced, text, valuesOf } from './member-sets.ts'

const MEMBERS = [
  'display_name',
  'endpoint_ttl',
  'audit_retention_days',
  'trusted_networks',
  'routed_networks',
  'business_hours',
  'strong_acr',
  'step_up',
  'peer_visibility',
]

/** The settings of the Domain. Its slug and its mesh network are chosen when it is created. */
export const domain: Kind = {
  name: 'domain',
  nouns: ['domains'],
  summary: 'The settings of the Domain',
  members: (manifest) => [...valuesOf(manifest, 'PatchDomain', MEMBERS), LABELS],
  labels: 'domain',
  async read({ domain: row }) {
    return [{ kind: 'domain', name: 'domain', id: text(row, 'id'), members: picked(row, MEMBERS), row }]
  },
  async change({ api }, { live, changes }) {
    const body = replaced(changes, MEMBERS)
    if (Object.keys(body).length > 0) await api.call('PatchDomain', { id: live.id, body })
  },
  reread: ({ api }, { id }) => api.call('GetDomain', { id }),
}
