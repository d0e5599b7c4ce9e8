import { describe, expect, it } from 'vitest'
import { targetFrom } from '../../../../../src/cli/commands/capacity/target-text.ts'
import { quantityText, ratioText, shareText } from '../../../../../src/cli/commands/capacity/quantity.ts'

describe('A target on the command line', () => {
  it.each([
    ['20000', 20_000],
    ['0', 0],
    [' 7 ', 7],
    ['default', null],
    ['null', null],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('is a whole number, or default: %s', (text, amount) => {
    expect(targetFrom(text, '--nodes', 'nodes')).toBe(amount)
  })

  it.each([
    ['5242880', 5_242_880],
    ['5MiB', 5_242_880],
    ['5 MiB', 5_242_880],
    ['5MiB/s', 5_242_880],
    ['1.5KiB', 1536],
    ['8MB', 8_000_000],
    ['100B', 100],
  ])('of bytes may be a size: %s', (text, amount) => {
    expect(targetFrom(text, '--observability-ingest', 'observability_ingest')).toBe(amount)
  })

  it.each(['-5', '1.5', '', 'many', '1e9', '0x10', '5MiB', '9007199254740992', '99999999999999999', 'DEFAULT'])(
    'is refused otherwise, in a sentence that begins with the flag: "%s"',
    (text) => {
      expect(() => targetFrom(text, '--nodes', 'nodes')).toThrow(
        `--nodes needs a whole number from 0 (no target) to 9,007,199,254,740,991, or default, not "${text}"`,
      )
    },
  )

  it.each(['5M', '-5MiB', '0.1B', '9999999999999TiB', 'MiB', '5 mib'])(
    'of bytes is refused otherwise: "%s"',
    (text) => {
      expect(() => targetFrom(text, '--observability-ingest', 'observability_ingest')).toThrow(
        `--observability-ingest needs whole bytes from 0 (no target) to 9,007,199,254,740,991, a size such as 5MiB, or default, not "${text}"`,
      )
    },
  )
})

describe('An amount for people', () => {
  it.each([
    [8123, 'count', '8,123'],
    [12.53, 'events/sec', '12.5 events/s'],
    [10_000, 'reads/sec', '10,000 reads/s'],
    [0, 'bytes/sec', '0 B/s'],
    [1023, 'bytes/sec', '1,023 B/s'],
    [1536, 'bytes/sec', '1.5 KiB/s'],
    [5_242_880, 'bytes/sec', '5 MiB/s'],
    [9_007_199_254_740_991, 'bytes/sec', '8 PiB/s'],
  ] as const)('has its unit: %d %s', (amount, unit, text) => {
    expect(quantityText(amount, unit)).toBe(text)
  })

  it('names the unit of a share once, but for bytes, whose sizes differ', () => {
    expect(shareText(12, 1000, 'events/sec')).toBe('12 of 1,000 events/s')
    expect(shareText(1024, 5_242_880, 'bytes/sec')).toBe('1 KiB/s of 5 MiB/s')
    expect(shareText(7, 0, 'count')).toBe('7, no target')
  })

  it('rounds a ratio to whole percents, without hiding that there is a little', () => {
    expect([0, 0.0001, 0.8123, 1, 12.34, null].map(ratioText)).toEqual(['0 %', '<1 %', '81 %', '100 %', '1,234 %', ''])
  })
})
