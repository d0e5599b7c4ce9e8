import { expect, it } from 'vitest'
import { relationsMeant } from '../../../../../src/server/slices/audit/relations.ts'
import { DEVICE_POLL_RELATION } from '../../../../../src/shared/contract/oauth-schemas.ts'
import { serviceToken } from '../../../../../src/shared/contract/service-token.ts'
import { relationsOf } from '../../../../../src/shared/contract/audit-relations.ts'

const OWN_CHANGES = [
  'local_account.password',
  'local_account.recovery_code',
  'local_account.recovery_codes',
  'local_account.second_factor',
]

it('finds what people change of their own accounts among the writes', () => {
  const writes = relationsMeant({ only: 'writes', relation_prefix: 'local_account.' })
  expect(writes).toEqual(expect.arrayContaining(OWN_CHANGES))
  expect(writes).not.toContain('local_account.sign_in')
})

it('finds every relation of accounts by its prefix', () => {
  const all = relationsMeant({ relation_prefix: 'local_account.' })
  expect(all).toEqual(expect.arrayContaining([...OWN_CHANGES, 'local_account.sign_in']))
})

it('finds a relation that operations share once, so that no row is listed twice', () => {
  const read = relationsMeant({ relation_prefix: 'policy.' }) ?? []
  expect(read).toContain('policy.read')
  expect(read).toEqual([...new Set(read)])
})

it('counts the relations that the body of a request selects', () => {
  const operations = Object.values(serviceToken.operations)
  expect(operations.flatMap((operation) => relationsOf(operation))).toContain(DEVICE_POLL_RELATION)
})
