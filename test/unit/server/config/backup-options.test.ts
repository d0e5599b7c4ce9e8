import { describe, expect, it } from 'vitest'
import { backupInterval, backupKeep } from '../../../../src/server/config/backup.ts'
import { parseConfig } from '../../../../src/server/config/config.ts'

const MINUTE = 60_000
const parse = (...argv: string[]) => parseConfig({ argv, env: {}, uid: 1000 })

describe('--backup-interval', () => {
  it.each([
    ['1m', MINUTE],
    ['90m', 90 * MINUTE],
    ['24h', 1_440 * MINUTE],
    ['1d12h', 2_160 * MINUTE],
    ['31d', 44_640 * MINUTE],
  ])('%s', (text, value) => {
    expect(backupInterval(text)).toEqual({ value })
  })

  it.each(['', '0', '30s', '0m', '32d', '1h1d', '-1h', '1.5h', '24', 'h'])('is not %j', (text) => {
    expect(backupInterval(text)).toHaveProperty('mustBe')
  })
})

describe('--backup-keep', () => {
  it.each([
    ['1', 1],
    ['1000', 1_000],
  ])('%s', (text, value) => {
    expect(backupKeep(text)).toEqual({ value })
  })

  it.each(['0', '1001', '-1', '1.5', '', 'all'])('is not %j', (text) => {
    expect(backupKeep(text)).toHaveProperty('mustBe')
  })
})

describe('the configuration of backups', () => {
  it('is none without a directory', () => {
    expect(parse('--data-dir', '/d', '--backup-interval', '1h').backups).toBeUndefined()
  })

  it('is once a day and seven of them', () => {
    expect(parse('--data-dir', '/d', '--backup-dir', '/b').backups).toEqual({
      directory: '/b',
      intervalMs: 1_440 * MINUTE,
      keep: 7,
    })
  })

  it('copies into the data directory, or into a directory of its own in the one that is named', () => {
    expect(parse('--data-dir', '/d').backupScratchDir).toBe('/d/backup-scratch')
    const one = parse('--data-dir', '/d', '--backup-scratch-dir', '/s').backupScratchDir
    const other = parse('--data-dir', '/e', '--backup-scratch-dir', '/s').backupScratchDir
    expect(one).toMatch(/^\/s\/ctl-backup-scratch-[0-9a-f]{12}$/)
    expect(other).not.toBe(one)
  })

  it('is refused with --dev, which keeps nothing', () => {
    expect(() => parse('--dev', '--backup-dir', '/b')).toThrow('--dev keeps everything in memory')
  })
})
