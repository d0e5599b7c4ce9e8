import { describe, expect, it } from 'vitest'
import { changesOf } from '../../../../src/cli/domain-files/plan/compare.ts'
import { schemaOfValue } from '../../../../src/cli/domain-files/schema/value-schema.ts'
import { valueFaults } from '../../../../src/cli/domain-files/schema/value-fault.ts'

const MEMBERS = { name: 'members', rule: 'additive', schema: {} } as const
const INGRESS = { name: 'ingress', rule: 'whole', schema: {} } as const

describe('Files and objects are compared', () => {
  it('so that an entry of an additive list stays where the file does not name it', () => {
    const compared = { file: { members: ['user:ann'] }, live: { members: ['user:ben'] }, exact: new Set<string>() }
    expect(changesOf([MEMBERS], compared)).toEqual([{ member: 'members.user:ann', to: 'user:ann' }])
  })

  it('so that an entry of an additive list is removed where --prune makes it complete', () => {
    const compared = { file: { members: [] }, live: { members: ['user:ben'] }, exact: new Set(['members']) }
    expect(changesOf([MEMBERS], compared)).toEqual([{ member: 'members.user:ben', from: 'user:ben' }])
  })

  it('so that an entry is removed where the list is complete in the file', () => {
    const compared = { file: { ingress: [] }, live: { ingress: [{ slug: 'blog' }] }, exact: new Set<string>() }
    expect(changesOf([INGRESS], compared)).toEqual([{ member: 'ingress.blog', from: { slug: 'blog' } }])
  })

  it('so that a member that the file does not have stays', () => {
    expect(changesOf([INGRESS], { file: {}, live: { ingress: [{ slug: 'blog' }] }, exact: new Set() })).toEqual([])
  })

  it('so that null is taken where the API takes null for an object', () => {
    const schema = schemaOfValue({ type: 'object', nullable: true, fields: [] })
    expect([valueFaults(null, schema), valueFaults(1, schema).length]).toEqual([[], 1])
  })
})
