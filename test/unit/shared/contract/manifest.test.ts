import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { manifestOf } from '../../../../src/shared/contract/manifest.ts'
import { check, defineSurface, open } from '../../../../src/shared/contract/operation.ts'

const things = defineSurface('things', 'Things', {
  PostThing: {
    method: 'POST',
    path: '/v1/things/{id}',
    summary: 'Post a thing',
    credentials: ['api-token'],
    params: z.strictObject({ id: z.string() }),
    query: z.strictObject({ limit: z.string().regex(/^\d+$/).optional().describe('Page size') }),
    paging: { limit: 'rejected', cursor: 'operation' },
    body: z.strictObject({
      note: z.string().max(9).default('none'),
      tags: z.array(z.enum(['a', 'b'])).max(3),
      place: z.strictObject({ shelf: z.int().min(1).max(9) }).nullable(),
      labels: z.record(z.string(), z.string()),
    }),
    bodyBytesMax: 512,
    gate: check('manage', 'thing:{path.id}'),
    audit: { relation: 'thing.post', when: 'all' },
    responses: { 201: z.object({ token: z.string().meta({ 'x-service-write-once': true }) }) },
    problems: [],
  },
  GetPicture: {
    method: 'GET',
    path: '/v1/picture',
    summary: 'See it',
    credentials: [],
    gate: open('a test'),
    audit: { none: 'a test' },
    responses: { 200: { media: 'image/png', describe: 'The picture' } },
    problems: [],
  },
})

const manifest = manifestOf({ things })
const { PostThing: post, GetPicture: picture } = manifest.operations

test('the manifest names its format, the version of the API and the words of scopes', () => {
  expect(manifest).toMatchObject({ format: 1, apiVersion: 'v1', surfaces: ['things'] })
})

describe('an operation in the manifest', () => {
  it('says what it takes and what repeating it does', () => {
    expect(post).toMatchObject({ credentials: ['api-token'], access: 'write', idempotent: false })
    expect(picture).toMatchObject({ credentials: [], access: 'read', idempotent: true })
  })

  it('has the number that limit stands for, not the text that carries it', () => {
    expect(post?.query).toEqual([
      {
        name: 'limit',
        required: false,
        type: 'integer',
        minimum: 1,
        maximum: 200,
        default: 50,
        description: 'Page size',
      },
    ])
  })

  it('has the members of its body with their bounds, defaults and shapes', () => {
    expect(post?.body).toEqual({
      media: ['application/json'],
      bytesMax: 512,
      required: true,
      fields: [
        { name: 'note', required: false, type: 'string', maxLength: 9, default: 'none' },
        { name: 'tags', required: true, type: 'array', maxItems: 3, items: { type: 'string', enum: ['a', 'b'] } },
        {
          name: 'place',
          required: true,
          type: 'object',
          nullable: true,
          fields: [{ name: 'shelf', required: true, type: 'integer', minimum: 1, maximum: 9 }],
        },
        { name: 'labels', required: true, type: 'object', values: { type: 'string' } },
      ],
    })
  })

  it('marks what is shown once, and answers that are not JSON', () => {
    expect(post?.responses).toEqual([{ status: 201, media: 'application/json', writeOnce: ['token'] }])
    expect(picture?.responses).toEqual([{ status: 200, media: 'image/png' }])
  })
})
