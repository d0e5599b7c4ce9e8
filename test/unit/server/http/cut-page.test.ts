import { describe, expect, it } from 'vitest'
import { cutPage } from '../../../../src/server/http/cut-page.ts'

const positionOf = (row: string) => [row]

describe('cutPage', () => {
  it.each([
    ['nothing', [], { rows: [], next: undefined }],
    ['fewer rows than a page', ['a'], { rows: ['a'], next: undefined }],
    ['exactly a page', ['a', 'b'], { rows: ['a', 'b'], next: undefined }],
    ['one row beyond the page', ['a', 'b', 'c'], { rows: ['a', 'b'], next: ['b'] }],
  ])('cuts %s', (_what, read, page) => {
    expect(cutPage(read, 2, positionOf)).toEqual(page)
  })
})
