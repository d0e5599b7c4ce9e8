import { describe, expect, it } from 'vitest'
import type { LiveObject } from '../../../../src/cli/domain-files/document.ts'
import { assertPrunable } from '../../../../src/cli/domain-files/prepare.ts'
import { file, plan, worldOf } from '../../../support/domain-files/planned-world.ts'

const ROLES = [{ on: 'domain', role: 'admin' }]
const live = (kind: string, name: string, members: LiveObject['members']): LiveObject => {
  return { kind, name, id: `${kind}-${name}`, members, managedBy: 'acme', row: {} }
}
const CI = live('service-identity', 'ci', { display_name: 'CI', disabled: false })
const OTHER = live('service-identity', 'other', { display_name: 'Other', disabled: false })
const GRANTS = live('grants', 'service:ci', { roles: ROLES })

describe('A plan with --prune', () => {
  const OF_CI = { caller: 'service:ci', pruneMax: 10 }

  it('removes neither the caller nor its roles, which no file names', async () => {
    const { steps, unnamed } = await plan(worldOf([CI, OTHER, GRANTS]), [], OF_CI)
    expect([steps, unnamed]).toMatchObject([[{ action: 'remove', name: 'other' }], []])
    const { steps: withFile } = await plan(
      worldOf([CI, GRANTS]),
      [file('service-identity', 'ci', { display_name: 'CI' }), file('grants', 'service:ci', { roles: [] })],
      OF_CI,
    )
    expect(withFile).toEqual([])
  })

  it('removes another service identity and its roles', async () => {
    const { steps } = await plan(worldOf([CI, GRANTS]), [], { ...OF_CI, caller: 'user:ann' })
    expect(steps.map(({ kind }) => kind)).toEqual(['grants', 'service-identity'])
  })
})

describe('A file with "absent: true"', () => {
  it.each([CI, GRANTS])('is refused for the caller: $kind $name', async ({ kind, name }) => {
    const absent = { ...file(kind, name, {}), isAbsent: true } as const
    await expect(plan(worldOf([CI, GRANTS]), [absent], { caller: 'service:ci' })).rejects.toMatchObject({
      exitCode: 6,
      code: 'removes_caller',
      hints: [expect.stringContaining('another administrator')],
    })
  })
})

describe('A folder for --prune', () => {
  it.each([
    ['no name of its set', { set: undefined, documents: [file('group', 'ops', {})] }, 'domain has no ctl.yaml'],
    ['no files of objects', { set: 'acme', documents: [] }, 'would remove all that set acme has created'],
  ])('is refused with %s', (_what, folder, said) => {
    expect(() => assertPrunable('domain', folder)).toThrow(said)
  })
})
