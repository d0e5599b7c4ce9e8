import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { check, defineSurface, type Operation } from '../../../../src/shared/contract/operation.ts'
import { openApiOf } from '../../../../src/shared/contract/openapi.ts'
import { fullReplacement, immutable, nonEmptyPatch } from '../../../../src/shared/contract/patch.ts'

const patchThing = {
  method: 'PATCH',
  path: '/v1/things',
  summary: 'Change a thing',
  credentials: ['api-token'],
  body: z.strictObject({ name: z.string().optional(), kind: immutable('invalid_kind') }),
  bodyBytesMax: 512,
  gate: check('manage', 'platform:main'),
  audit: { relation: 'thing.update', when: 'all' },
  responses: { 204: null },
  problems: [],
} as const satisfies Operation

const declare = (operation: Operation) => () => defineSurface('things', 'Things', { PatchThing: operation })

describe('a PATCH of the contract', () => {
  it.each([
    ['a patch that names a member', nonEmptyPatch()],
    ['a full replacement', fullReplacement('a test')],
  ])('may be %s', (_, patch) => {
    expect(declare({ ...patchThing, patch })).not.toThrow()
  })

  it('does not load without saying which', () => {
    expect(declare(patchThing)).toThrow(
      'PatchThing: a PATCH has a body, and is a nonEmptyPatch() or a fullReplacement()',
    )
  })

  it('does not load without a body', () => {
    const { body: _body, ...bodiless } = patchThing
    expect(declare({ ...bodiless, patch: nonEmptyPatch() })).toThrow('PatchThing: a PATCH has a body')
  })

  it('is the only operation with a patch rule', () => {
    expect(declare({ ...patchThing, method: 'POST', patch: nonEmptyPatch() })).toThrow(
      'PatchThing: only a PATCH has a patch rule',
    )
  })
})

describe('the document of a PATCH', () => {
  const things = defineSurface('things', 'Things', { PatchThing: { ...patchThing, patch: nonEmptyPatch() } })
  const { paths } = openApiOf({ things }) as unknown as {
    readonly paths: { readonly '/v1/things': { readonly patch: Described } }
  }
  const { responses, requestBody } = paths['/v1/things'].patch

  it('lists the codes of an empty patch and of members that cannot change', () => {
    expect(responses['400']?.['x-service-codes']).toEqual([
      'empty_patch',
      'invalid_body',
      'invalid_kind',
      'invalid_query',
    ])
  })

  it('does not offer members that cannot change', () => {
    expect(requestBody.content['application/json'].schema).toEqual({
      type: 'object',
      properties: { name: { type: 'string' } },
      additionalProperties: false,
    })
  })
})

interface Described {
  readonly responses: Readonly<Record<string, { readonly 'x-service-codes'?: readonly string[] }>>
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: unknown } } }
}
