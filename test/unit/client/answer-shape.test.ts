import { describe, expect, it } from 'vitest'
import { shapeFault } from '../../../src/client/answer-shape.ts'
import type { ManifestShape } from '../../../src/shared/contract/manifest-format.ts'

const PAGE: ManifestShape = {
  type: 'object',
  fields: [
    {
      name: 'items',
      required: true,
      type: 'array',
      items: {
        type: 'object',
        fields: [
          { name: 'id', required: true, type: 'string' },
          { name: 'size', required: true, type: 'integer', nullable: true },
          { name: 'labels', required: false, type: 'object', values: { type: 'string' } },
        ],
      },
    },
    { name: 'next_cursor', required: false, type: 'string', nullable: true },
  ],
}

describe('An answer without an API version', () => {
  const fault = (value: unknown, shape = PAGE): string | undefined => shapeFault(value, shape, { isKnownServer: false })

  it.each([
    { items: [] },
    { items: [{ id: 'a', size: 1, labels: { x: 'y' } }], next_cursor: null },
    { items: [{ id: 'a', size: null, unknown: 7 }], added: [] },
  ])('matches its shape even with unknown members', (value) => {
    expect(fault(value)).toBeUndefined()
  })

  it.each([
    ['is no object', []],
    ['is no object', null],
    ['is no object', 'text'],
    ['lacks "items"', {}],
    ['has in "items" no list', { items: {} }],
    ['lacks "items.1.id"', { items: [{ id: 'a', size: 1 }, { size: 2 }] }],
    ['has in "items.0.id" no text', { items: [{ id: 7, size: 1 }] }],
    ['has in "items.0.size" no number', { items: [{ id: 'a', size: '1' }] }],
    ['has in "items.0.labels.x" no text', { items: [{ id: 'a', size: 1, labels: { x: 1 } }] }],
    ['has in "next_cursor" no text', { items: [], next_cursor: 5 }],
  ])('%s', (expected, value) => {
    expect(fault(value)).toBe(expected)
  })

  it('is refused if it is an empty list', () => {
    expect(fault([], { type: 'array', items: { type: 'string' } })).toBe(
      'is an empty list, and the server names no API version',
    )
  })
})

describe('An answer with an API version', () => {
  const fault = (value: unknown): string | undefined => shapeFault(value, PAGE, { isKnownServer: true })

  it.each([{ items: [{}] }, { items: [{ id: 7 }] }, { items: [] }])(
    'may lack plain members of a later version',
    (value) => {
      expect(fault(value)).toBeUndefined()
    },
  )

  it.each([
    ['lacks "items"', {}],
    ['is no object', []],
    ['has in "items" no list', { items: 'a' }],
    ['has in "items.0" no object', { items: ['a'] }],
  ])('%s', (expected, value) => {
    expect(fault(value)).toBe(expected)
  })
})
