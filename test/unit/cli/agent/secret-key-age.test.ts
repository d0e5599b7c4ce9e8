import { describe, expect, test } from 'vitest'
import { enrolmentOf, realMember } from '../../../../src/cli/agent/real-member.ts'
import { isSecretKeyDue } from '../../../../src/cli/agent/secret-key-age.ts'
import { enrolledState } from '../../../support/agent/agent-state.ts'

const NOW_MS = Date.parse('2026-11-28T12:00:00.000Z')

describe('the node secret key', () => {
  test.each([
    ['of an unknown age is kept', undefined, false],
    ['is kept on the day before it is a year old', '2025-11-28T12:00:00.001Z', false],
    ['is replaced once it is a year old', '2025-11-28T12:00:00.000Z', true],
    ['whose age cannot be read is kept', 'yesterday', false],
  ])('%s', (_, since, isDue) => {
    expect(isSecretKeyDue(since, NOW_MS)).toBe(isDue)
  })

  test('has its age from the first time that it is written down, and another key has another', () => {
    const { enrolment } = enrolledState()
    const member = realMember(enrolment)
    const first = enrolmentOf(member, enrolment, NOW_MS)
    expect(first.nsk_since).toBe('2026-11-28T12:00:00.000Z')
    expect(enrolmentOf(member, first, NOW_MS + 1_000).nsk_since).toBe(first.nsk_since)
    member.identity = { ...member.identity, nsk: 'another' }
    expect(enrolmentOf(member, first, NOW_MS + 1_000).nsk_since).toBe('2026-11-28T12:00:01.000Z')
  })
})
