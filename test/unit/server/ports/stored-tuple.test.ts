import { describe, expect, test } from 'vitest'
import { storedTuple } from '../../../../src/server/ports/stored-tuple.ts'

const ROW = {
  id: '01935b5e-8f3a-5c61-9d0a-3f5f3c1d2e4b',
  subject_type: 'user',
  subject_id: 'ann',
  subject_relation: '',
  relation: 'admin',
  resource_type: 'platform',
  resource_id: 'main',
  caveat_name: '',
  caveat_fields: [],
  domain_id: null,
  project_id: null,
  structural: false,
  created_at: new Date('2026-03-01T08:00:00.123Z'),
}

describe('The row of a tuple', () => {
  test('with a direct subject becomes one without a relation and without a caveat', () => {
    expect(storedTuple(ROW)).toEqual({
      id: '01935b5e-8f3a-5c61-9d0a-3f5f3c1d2e4b',
      subject: 'user:ann',
      relation: 'admin',
      resource: 'platform:main',
      caveatFields: [],
      createdAt: new Date('2026-03-01T08:00:00.123Z'),
      domainId: null,
      projectId: null,
      structural: false,
    })
  })

  test('with the members of a group keeps their relation, and its caveat', () => {
    const row = { ...ROW, subject_type: 'group', subject_id: 'ops', subject_relation: 'member' }
    expect(storedTuple({ ...row, caveat_name: 'within_hours', caveat_fields: ['now'] })).toMatchObject({
      subject: 'group:ops#member',
      caveatName: 'within_hours',
      caveatFields: ['now'],
    })
  })
})
