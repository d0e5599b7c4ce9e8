import { expect, test } from 'vitest'
import { tupleId } from '../../../../../src/server/adapters/postgres/tuple-id.ts'

const BINDING = { subject: 'user:018f0000-0000-7000-8000-000000000001', relation: 'admin', resource: 'platform:main' }

test.each([
  ['718cf852-d709-5807-824e-99d8ad98e617', BINDING],
  ['718cf852-d709-5807-824e-99d8ad98e617', { ...BINDING, caveatFields: ['now'] }],
  [
    '535f3c17-22e1-5973-80f7-5e07eff10556',
    {
      subject: 'group:018f0000-0000-7000-8000-000000000002#member',
      relation: 'viewer',
      resource: 'domain:018f0000-0000-7000-8000-000000000003',
      caveatName: 'within_hours',
    },
  ],
])('the id %s is the UUIDv5 of subject, relation, resource and caveat name, for ever', (id, tuple) => {
  expect(tupleId(tuple)).toBe(id)
})
