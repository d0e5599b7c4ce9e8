import { describe, expect, it } from 'vitest'
import { relative, titles } from '../../../../src/cli/output/cells.ts'
import { memberOf, references, sorted } from '../../../../src/cli/output/members.ts'
import { cardLines, tableLines, type TableOptions } from '../../../../src/cli/output/table.ts'
import { displayWidth, fitted, wrapped } from '../../../../src/cli/output/width.ts'

const same = (text: string): string => text
const OPTIONS: TableOptions = {
  columns: ['slug', 'created_at', 'id'],
  headers: true,
  nowMs: Date.parse('2026-02-01T12:00:00Z'),
  style: { bold: same, dim: same, good: same, warn: same, bad: same },
  terminal: 80,
  isWide: false,
}
const ROW = { slug: 'web', created_at: '2026-02-01T11:00:00.000Z', id: '019c1a10-0000-7000-8000-0000000a0001' }

describe('A card', () => {
  const card = (row: object, terminal: number | undefined = 80) =>
    cardLines(row, { ...OPTIONS, columns: Object.keys(row), terminal })

  it('gives each object of a list a line of its own, with its instants explained', () => {
    const nsk = [
      { kid: 'k1', created_at: '2026-02-01T11:00:00.000Z', retires_at: null },
      { kid: 'k2', created_at: '2026-02-01T11:30:00.000Z', retires_at: '2026-02-01T13:00:00.000Z' },
    ]
    expect(card({ slug: 'web', nsk })).toEqual([
      'SLUG  web',
      'NSK   kid k1, created_at 2026-02-01T11:00:00.000Z (1h ago)',
      '      kid k2, created_at 2026-02-01T11:30:00.000Z (30m ago), retires_at 2026-02-01T13:00:00.000Z (in 1h)',
    ])
  })

  it('keeps plain lists and flat objects on one line, and never shows JSON', () => {
    expect(
      card({ labels: { a: 'b', c: 'd' }, scopes: ['x', 'y'], none: [], deep: { at: { x: 1 }, z: ['q'] } }),
    ).toEqual(['LABELS  a=b,c=d', 'SCOPES  x, y', 'NONE    -', 'DEEP    at x=1', '        z q'])
  })

  it('is a line for each member where a program reads', () => {
    const program = { ...OPTIONS, columns: ['nsk'], terminal: undefined }
    expect(cardLines({ nsk: [{ kid: 'k1' }, { kid: 'k2' }] }, program)).toEqual(['NSK\tkid=k1;kid=k2'])
  })
})

describe('A table', () => {
  it('is aligned on a terminal, with relative times and ends of ids', () => {
    expect(tableLines([ROW, { ...ROW, slug: 'a-longer-one' }], OPTIONS)).toEqual([
      'SLUG          CREATED  ID',
      'web           1h ago   000a0001',
      'a-longer-one  1h ago   000a0001',
    ])
  })

  it('is tab-separated and exact elsewhere', () => {
    expect(tableLines([ROW], { ...OPTIONS, terminal: undefined })).toEqual([
      'SLUG\tCREATED\tID',
      'web\t2026-02-01T11:00:00.000Z\t019c1a10-0000-7000-8000-0000000a0001',
    ])
  })

  it('has no titles when they are not wanted', () => {
    expect(tableLines([ROW], { ...OPTIONS, headers: false })).toEqual(['web  1h ago  000a0001'])
  })

  it('takes from the widest column where the terminal is narrow', () => {
    const [, line = ''] = tableLines([{ ...ROW, slug: 'x'.repeat(60) }], { ...OPTIONS, terminal: 40 })
    expect(line).toBe(`${'x'.repeat(20)}…  1h ago   000a0001`)
    expect(displayWidth(line)).toBeLessThanOrEqual(40)
  })

  it('cuts titles first, then long texts, and references last, of which the end stays', () => {
    const row = { subject: `user:${ROW.id}`, description: 'a long description of it', seen_at: ROW.created_at }
    const options = { ...OPTIONS, columns: ['subject', 'description', 'last_seen_at'] }
    const lines = (terminal: number) => tableLines([{ ...row, last_seen_at: row.seen_at }], { ...options, terminal })
    expect(lines(80)).toEqual([
      'SUBJECT        DESCRIPTION               LAST SEEN',
      'user:000a0001  a long description of it  1h ago',
    ])
    expect(lines(49)[0]).toBe('SUBJECT        DESCRIPTION               LAST SE…')
    expect(lines(36)).toEqual(['SUBJECT        DESCRIPTION  LAST SE…', 'user:000a0001  a long des…  1h ago'])
    expect(lines(28)[1]).toBe('…00a0001  a long …  1h ago')
  })

  it('cuts names, which are typed again, after other texts', () => {
    const row = { name: 'sim-lu07u-1', kind: 'worker', binary_version: 'agent-sim-of-today' }
    const [, line] = tableLines([row], { ...OPTIONS, columns: Object.keys(row), terminal: 33 })
    expect(line).toBe('sim-lu07u-1  worker  agent-sim-o…')
  })

  it('cuts nothing when it is wide', () => {
    const [, line = ''] = tableLines([{ ...ROW, slug: 'x'.repeat(60) }], { ...OPTIONS, terminal: 40, isWide: true })
    expect(line).toContain('x'.repeat(60))
    expect(line).toContain(ROW.id)
  })

  it('aligns texts of double width', () => {
    expect(
      tableLines(
        [
          { slug: '日本', id: 'x' },
          { slug: 'abcd', id: 'y' },
        ],
        { ...OPTIONS, columns: ['slug', 'id'], headers: false },
      ),
    ).toEqual(['日本  x', 'abcd  y'])
  })

  it('keeps a row on one line, whatever is in it', () => {
    const [line] = tableLines([{ slug: 'a\tb\nc' }], {
      ...OPTIONS,
      columns: ['slug'],
      headers: false,
      terminal: undefined,
    })
    expect(line).toBe('a\\tb\\nc')
  })
})

describe('A card', () => {
  it('shows whole ids and explains times', () => {
    expect(cardLines(ROW, OPTIONS)).toEqual([
      'SLUG     web',
      'CREATED  2026-02-01T11:00:00.000Z (1h ago)',
      'ID       019c1a10-0000-7000-8000-0000000a0001',
    ])
  })

  it('is nothing but values without titles', () => {
    expect(cardLines(ROW, { ...OPTIONS, columns: ['id'], headers: false, terminal: undefined })).toEqual([ROW.id])
  })
})

describe('A cell', () => {
  it.each([
    ['2026-02-01T12:00:00Z', 'now'],
    ['2026-02-01T11:59:50Z', '10s ago'],
    ['2026-01-01T12:00:00Z', '31d ago'],
    ['2026-02-01T12:05:30Z', 'in 5m'],
  ])('says of %s that it is %s', (instant, text) => {
    expect(relative(instant, OPTIONS.nowMs)).toBe(text)
  })

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
  ])('%s fits into %d columns as %s', (text, columns, expected) => {
    expect(fitted(text, columns)).toBe(expected)
  })
})

describe('Titles', () => {
  it.each([
    [
      ['slug', 'display_name', 'last_heartbeat_at'],
      ['SLUG', 'NAME', 'LAST HEARTBEAT'],
    ],
    [
      ['name', 'display_name'],
      ['NAME', 'DISPLAY NAME'],
    ],
    [
      ['id', 'credential.id'],
      ['ID', 'CREDENTIAL ID'],
    ],
    [['at'], ['AT']],
  ])('of %j are %j', (columns, expected) => {
    expect(titles(columns)).toEqual(expected)
  })
})

describe('Rows', () => {
  it.each([
    ['n', [1, 2, 10, null]],
    ['-n', [10, 2, 1, null]],
  ])('are sorted by %s, what has none last', (by, expected) => {
    const rows = [{ n: 10 }, { n: null }, { n: 1 }, { n: 2 }]
    expect(sorted(rows, by).map((row) => memberOf(row, 'n'))).toEqual(expected)
  })

  it('are referred to by names that are theirs alone, else by ids', () => {
    expect(
      references([{ slug: 'a', id: '1' }, { display_name: 'b', id: '2' }, { display_name: 'b', id: '3' }, { id: '4' }]),
    ).toEqual(['a', '2', '3', '4'])
  })
})

describe('What a person decides about', () => {
  it('takes more lines instead of being cut, in the columns of the terminal', () => {
    const row = { action: { sentence: 'Make Deployer (service:000e5b1a) admin of the Domain default.' }, state: 'open' }
    const columns = ['action.sentence', 'state']
    expect(tableLines([row, row], { ...OPTIONS, columns, terminal: 40, headers: false })).toEqual([
      'Make Deployer (service:000e5b1a)    open',
      'admin of the Domain default.',
      'Make Deployer (service:000e5b1a)    open',
      'admin of the Domain default.',
    ])
    expect(tableLines([row], { ...OPTIONS, columns, terminal: undefined, headers: false })).toEqual([
      'Make Deployer (service:000e5b1a) admin of the Domain default.\topen',
    ])
  })

  it('is broken between words, and within a word that is longer than a line', () => {
    expect(wrapped('a bb cccccccccc d', 4)).toEqual(['a bb', 'cccc', 'cccc', 'cc d'])
    expect(wrapped('漢字漢', 4)).toEqual(['漢字', '漢'])
    expect(wrapped('', 4)).toEqual([''])
  })
})
