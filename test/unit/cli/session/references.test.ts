import { describe, expect, it } from 'vitest'
import { pick } from '../../../../src/cli/session/pick.ts'

const ROWS = [
  { id: '019c1a10-0000-7000-8000-aaaaaa110001', slug: 'web', display_name: 'Web' },
  { id: '019c1a10-0000-7000-8000-aaaaaa110002', slug: 'db', display_name: 'Shared' },
  { id: '019c1a10-1111-7000-8000-aaaaaa220003', slug: 'cafe00', display_name: 'Shared' },
  { id: 'cafe0010-0000-7000-8000-aaaaaa330004', slug: 'other', display_name: 'Other' },
]

describe('A reference', () => {
  it.each([
    ['web', 0, 'a slug'],
    ['Other', 3, 'a name'],
    ['OTHER', 3, 'a name in other letters'],
    ['220003', 2, 'six digits of the end'],
    ['aaaaaa22-0003', 2, 'the end with a hyphen where none is'],
    ['…aa220003', 2, 'the end as tables show it'],
    ['~aa220003', 2, 'the end as tables show it where the locale is not UTF-8'],
    ['019C1A101111', 2, 'the beginning in capitals'],
    ['cafe00', 2, 'a slug before the beginning of an id'],
  ])('%s finds row %d: %s', (text, index) => {
    expect(pick('projects', text, ROWS).id).toBe(ROWS[index]?.id)
  })

  it.each([
    ['Shared', 'a name that two have'],
    ['019c1a', 'the beginning of three ids'],
  ])('%s is ambiguous: %s', (text) => {
    expect(() => pick('projects', text, ROWS)).toThrow(
      expect.objectContaining({ exitCode: 2, code: 'ambiguous_reference' }),
    )
  })

  it.each([
    ['20003', 'five digits'],
    ['cafe0g', 'no hexadecimal digits'],
    ['', 'nothing'],
    ['we', 'half a slug'],
  ])('%j finds nothing: %s', (text) => {
    expect(() => pick('projects', text, ROWS)).toThrow(
      expect.objectContaining({ exitCode: 3, code: 'reference_not_found' }),
    )
  })

  it('finds what has an id named after its kind', () => {
    const rows = [
      { execution_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b' },
      { session_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c' },
    ]
    expect(pick('executions', '1d2e4b', rows).id).toBe(rows[0]?.execution_id)
    expect(pick('mediated-sessions', '3c1d2e4c', rows).id).toBe(rows[1]?.session_id)
  })
})
