import { describe, expect, it } from 'vitest'
import { parseEntryName, rowsName, tableHeadName } from '../../../../src/server/backup/archive/format.ts'

describe('names of entries', () => {
  it.each([
    ['backup.json', { kind: 'head' }],
    ['manifest.json', { kind: 'manifest' }],
    [tableHeadName('nodes'), { kind: 'tableHead', table: 'nodes' }],
    [rowsName('nodes', 12), { kind: 'rows', table: 'nodes', piece: 12 }],
    [rowsName('nodes', 1_234_567), { kind: 'rows', table: 'nodes', piece: 1_234_567 }],
    ['files/name.pem', { kind: 'file', name: 'name.pem' }],
  ])('%s is read', (name, parsed) => {
    expect(parseEntryName(name)).toEqual(parsed)
  })

  it.each([
    'tables/nodes/1.copy',
    'tables/../nodes/000001.copy',
    'tables/Nodes/table.json',
    'files/../master.key',
    'files/.hidden',
    '/backup.json',
    './backup.json',
    'backup.json/',
    '',
  ])('%j is none', (name) => {
    expect(parseEntryName(name)).toBeUndefined()
  })
})
