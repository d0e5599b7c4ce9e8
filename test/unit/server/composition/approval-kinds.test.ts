import { expect, test } from 'vitest'
import { collectApprovalKinds } from '../../../../src/server/composition/approval-kinds.ts'

const kindOf = (kind: string) => ({ kind, approve: async () => undefined, end: async () => undefined })

test('kinds are found by name once they are there', () => {
  const kinds = collectApprovalKinds()
  const lending = kindOf('lending')
  kinds.add([lending, kindOf('deletion')])
  expect(kinds.of('lending')).toBe(lending)
})

test('a kind that no slice has is a fault that names it', () => {
  expect(() => collectApprovalKinds().of('lending')).toThrow('no slice has approvals of the kind lending')
})

test('two slices cannot have the same kind', () => {
  const kinds = collectApprovalKinds()
  kinds.add([kindOf('lending')])
  expect(() => kinds.add([kindOf('lending')])).toThrow('two slices have approvals of the kind lending')
})
