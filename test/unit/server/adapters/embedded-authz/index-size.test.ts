import { expect, test } from 'vitest'
import { createIndexSizeWatch } from '../../../../../src/server/adapters/embedded-authz/index-size.ts'
import { engineOf, tuple } from '../../../../support/authz/tuples.ts'

const SCHEMA = `definition user {}
definition doc {
    relation reader: user
}
`

test('an index that outgrows its room is said once, and again after it was smaller', () => {
  const warnings: string[] = []
  const small = engineOf(SCHEMA, []).index
  const look = createIndexSizeWatch(50_000, (message) => void warnings.push(message))
  const { index: large } = engineOf(SCHEMA, [])
  for (let at = 0; at < 1_000; at++) large.touch(tuple(`doc:d${at}#reader@user:u`), at)
  for (const index of [small, large, large, small]) look(index)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(/^the authorization index takes 0 MiB for 1000 tuples, more than the 0 MiB /)
  look(large)
  expect(warnings).toHaveLength(2)
})
