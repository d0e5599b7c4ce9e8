import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { KINDS } from '../../../../src/cli/domain-files/kinds.ts'
import { documentSchema, presentSchema } from '../../../../src/cli/domain-files/schema/document-schema.ts'
import { valueFaults } from '../../../../src/cli/domain-files/schema/value-fault.ts'
import { manifest } from '../../../support/cli/cli-run.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
const schemas = new Map(KINDS.map((kind) => [kind.name, documentSchema(kind, manifest)]))
const validators = new Map([...schemas].map(([name, schema]) => [name, ajv.compile(schema)]))
const present = new Map(KINDS.map((kind) => [kind.name, presentSchema(kind, manifest)]))

/** Documents of files, with whether they are right. */
const DOCUMENTS: readonly (readonly [boolean, string])[] = [
  [true, 'kind: group\nname: ops\ndisplay_name: Ops\nmembers: [user:ann]\nlabels: {tier: web, weight: 3, old: true}'],
  [true, 'kind: domain\nendpoint_ttl: 120'],
  [true, 'kind: secret\nname: web/staff-key'],
  [true, 'kind: grants\nname: group:ops\nroles: [{on: domain, role: admin}]'],
  [true, 'kind: policy\nname: db-in\nselector: tier=db\nrules: []'],
  [false, 'kind: group\nname: ops'],
  [false, 'kind: group\nname: ops\ndisplay_name: Ops\nmembrs: []'],
  [false, 'kind: group\nname: ops\ndisplay_name: Ops\nmembers: user:ann'],
  [false, 'kind: domain\nendpoint_ttl: soon'],
  [false, 'kind: domain\nendpoint_ttl: 1'],
  [false, 'kind: secret\nname: web/staff-key\nvalue: hidden'],
  [false, 'kind: grants\nname: group:ops\nroles: [{on: domain}]'],
  [false, 'kind: policy\nname: db-in\nselector: tier=db\nrules: [{direction: sideways}]'],
]

describe('The kinds of files', () => {
  it('have every noun of the contract whose objects files have, and no other', () => {
    const inFiles = Object.entries(manifest.nouns).filter(([, { files }]) => typeof files === 'string')
    expect(KINDS.flatMap(({ nouns }) => nouns).toSorted()).toEqual(inFiles.map(([noun]) => noun).toSorted())
  })

  it('have every setting that the API changes of a Domain', () => {
    const domain = KINDS.find(({ name }) => name === 'domain')
    const settings = manifest.operations['PatchDomain']?.body?.fields.map(({ name }) => name) ?? []
    expect(domain?.members(manifest).map(({ name }) => name)).toEqual(expect.arrayContaining(settings))
  })

  it('have schemas that a validator of JSON Schema takes', () => {
    expect([...schemas.values()].filter((schema) => ajv.validateSchema(schema) !== true)).toEqual([])
  })

  it.each(DOCUMENTS)('are checked by ctl and by an editor alike: %s for %s', (isRight, text) => {
    const value = parse(text) as { readonly kind: string }
    const isEditorContent = validators.get(value.kind)?.(value)
    const isOwn = valueFaults(value, present.get(value.kind) ?? {}).length === 0
    expect([isEditorContent, isOwn]).toEqual([isRight, isRight])
  })

  it('may be a file that only removes its object', () => {
    const removal = { kind: 'group', name: 'ops', absent: true }
    expect(validators.get('group')?.(removal)).toBe(true)
    expect(validators.get('node')?.({ kind: 'node', name: 'web-1', absent: true })).toBe(false)
  })
})
