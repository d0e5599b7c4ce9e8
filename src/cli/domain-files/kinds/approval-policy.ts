import { isRow, type Row } from '../../output/members.ts'
import type { Kind } from '../kind.ts'
import { picked, valuesOf } from './member-sets.ts'

const MEMBERS = ['actions', 'ttl_seconds']

/** Which actions of the Domain wait for approval. It is written last, so that it does not hold the rest of its own set. */
export const approvalPolicy: Kind = {
  name: 'approval-policy',
  nouns: ['approval-policies'],
  summary: 'Which actions wait for approval, and by how many people',
  members: (manifest) => valuesOf(manifest, 'PutDomainApprovalPolicy', MEMBERS),
  async read({ api, names }) {
    const row = await api.call('GetDomainApprovalPolicy', { id: names.domainId })
    return [
      { kind: 'approval-policy', name: 'approval-policy', id: names.domainId, members: picked(row, MEMBERS), row },
    ]
  },
  async change({ api, names }, { live, document }) {
    const body = { ...picked(live.members, MEMBERS), ...picked(document.members, MEMBERS) }
    await api.call('PutDomainApprovalPolicy', { id: names.domainId, body })
  },
  reread: ({ api, names }) => api.call('GetDomainApprovalPolicy', { id: names.domainId }),
  revision: MEMBERS,
  heldUnder: (_world, { changes }) =>
    changes.some(({ from, to }) => isLooser(from, to)) ? 'approval-policies.loosen' : undefined,
}

function isLooser(from: unknown, to: unknown): boolean {
  if (!isRow(from)) return false
  const after: Row = isRow(to) ? to : {}
  return Object.entries(from).some(([action, before]) => required(after[action]) < required(before))
}

function required(entry: unknown): number {
  return isRow(entry) ? Number(entry['required_approvals'] ?? 0) : 0
}
