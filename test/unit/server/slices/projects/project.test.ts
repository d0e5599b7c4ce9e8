import { describe, expect, it } from 'vitest'
import { toAnswer } from '../../../../../src/server/slices/projects/project.ts'

describe('toAnswer', () => {
  it('writes instants as RFC 3339 in UTC with milliseconds', () => {
    const project = {
      id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
      domain_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
      slug: 'blue',
      display_name: 'Blue',
      created_at: new Date('2026-03-01T08:00:00.000Z'),
      updated_at: new Date('2026-03-02T09:30:00.500Z'),
    }
    expect(toAnswer(project)).toEqual({
      ...project,
      created_at: '2026-03-01T08:00:00.000Z',
      updated_at: '2026-03-02T09:30:00.500Z',
    })
  })
})
