import { describe, expect, it } from 'vitest'
import { DatastoreError } from '../../../../src/server/ports/datastore.ts'
import { problem } from '../../../../src/shared/problems.ts'
import { conflictsAs } from '../../../../src/server/sql/unique.ts'

const CONFLICTS = {
  item_slug_key: 'slug_conflict',
  item_alias_key: (cause: unknown) =>
    problem('idp_binding_conflict', { reason: 'another binding has this alias' }, cause),
} as const

const refused = (constraint: string | undefined, failure: 'unique' | 'constraint' = 'unique') =>
  new DatastoreError(failure, constraint, undefined)

describe('conflictsAs', () => {
  it('resolves with what the write resolves with', async () => {
    expect(await conflictsAs(Promise.resolve(7), CONFLICTS)).toBe(7)
  })

  it('throws the problem of the constraint, with the refusal as its cause', async () => {
    const cause = refused('item_slug_key')
    await expect(conflictsAs(Promise.reject(cause), CONFLICTS)).rejects.toMatchObject({
      code: 'slug_conflict',
      extras: {},
      cause,
    })
  })

  it('throws the extras of the problem', async () => {
    await expect(conflictsAs(Promise.reject(refused('item_alias_key')), CONFLICTS)).rejects.toMatchObject({
      code: 'idp_binding_conflict',
      extras: { reason: 'another binding has this alias' },
    })
  })

  it.each([
    ['a constraint that is not named', refused('item_pkey')],
    ['a constraint that objects have as a member', refused('toString')],
    ['a constraint without a name', refused(undefined)],
    ['a check of the same name', refused('item_slug_key', 'constraint')],
    ['an error of another kind', new Error('item_slug_key')],
  ])('throws %s as it is', async (_what, error) => {
    await expect(conflictsAs(Promise.reject(error), CONFLICTS)).rejects.toBe(error)
  })
})
