import { describe, expect, it } from 'vitest'
import { toDetail } from '../../../../../src/server/slices/groups/group.ts'

describe('toDetail', () => {
  it('lists the direct members, one that was bound under several conditions once', () => {
    const group = {
      id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
      domain_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
      slug: 'ops',
      provider_group: null,
      display_name: 'Operations',
      created_at: new Date('2026-03-01T08:00:00.000Z'),
    }
    const members = [
      { id: '1', subject_type: 'user', subject_id: 'u1', subject_relation: '' },
      { id: '2', subject_type: 'group', subject_id: 'g1', subject_relation: 'member' },
      { id: '3', subject_type: 'user', subject_id: 'u1', subject_relation: '' },
    ]
    expect(toDetail(group, members)).toEqual({
      ...group,
      created_at: '2026-03-01T08:00:00.000Z',
      members: ['user:u1', 'group:g1#member'],
    })
  })
})
