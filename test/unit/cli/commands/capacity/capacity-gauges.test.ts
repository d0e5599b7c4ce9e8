import { describe, expect, it } from 'vitest'
import type { DimensionUse, DomainCapacity } from '../../../../../src/cli/commands/capacity/answers.ts'
import { gaugeLines } from '../../../../../src/cli/commands/capacity/gauges.ts'
import { styleOf } from '../../../../../src/cli/output/style.ts'
import { displayWidth } from '../../../../../src/cli/output/width.ts'
import { FULL } from '../../../../golden/capacity-fleet.ts'
import { NOW } from '../../../../support/cli/cli-run.ts'

const plain = styleOf({ env: {} } as never, { isTty: false } as never, true)
const painted = styleOf({ env: {} } as never, { isTty: true } as never, false)
const full = FULL as unknown as DomainCapacity

const linesOf = (columns: number, more: Partial<DimensionUse> = {}, style = plain): readonly string[] => {
  const dimensions = full.dimensions.slice(0, 1).map((use) => ({ ...use, ...more }))
  return gaugeLines('default', { ...full, dimensions }, { style, columns, nowMs: NOW })
}

describe('Gauges', () => {
  it.each([40, 60, 80, 100, 200])('are never wider than a terminal of %d columns', (columns) => {
    const lines = gaugeLines('default', full, { style: plain, columns, nowMs: NOW })
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([])
    expect(lines).toHaveLength(7)
  })

  it('have a bar on a terminal of 80 columns, and none where it would be too short', () => {
    const at = (columns: number): string => gaugeLines('default', full, { style: plain, columns, nowMs: NOW })[1] ?? ''
    expect(at(80)).toBe('nodes                 ███████░░  81 %  8,123 of 10,000         OVER  full in 12d')
    expect(at(78)).toBe('nodes                   81 %  8,123 of 10,000         OVER  full in 12d')
  })

  it('show a little that is used, and a rest that is left', () => {
    const bar = (used: number): string =>
      linesOf(90, { used, days_until_full: null, ratio: used / 10_000 })[1]?.replaceAll(/[^█░]/g, '') ?? ''
    expect([0, 1, 9_999, 10_000, 50_000].map((used) => bar(used).indexOf('░'))).toEqual([0, 1, 29, -1, -1])
  })

  it.each([
    [{ ratio: 0.5, over_threshold: false }, '32'],
    [{ ratio: 0.85, over_threshold: true }, '33'],
    [{ ratio: 0.77, over_threshold: true }, '33'],
    [{ ratio: 1, over_threshold: true }, '31'],
    [{ ratio: null, target: 0, over_threshold: false }, '2'],
  ])('are painted by threshold: %j', (more, colour) => {
    expect(linesOf(90, more, painted)[1]).toContain(`\u001b[${colour}m`)
  })

  it('say when it is full, in days, or hours where there are few', () => {
    const said = (days: number): string | undefined =>
      /full .*$/.exec(linesOf(90, { days_until_full: days })[1] ?? '')?.[0]
    expect([364.9, 1, 0.25, 0].map(said)).toEqual(['full in 364d', 'full in 1d', 'full in 6h', 'full now'])
  })

  it('show names of Domains without control characters', () => {
    expect(gaugeLines('a\u001b[2Jb', full, { style: plain, columns: 80, nowMs: NOW })[0]).toBe(
      'a\\u001b[2Jb, sampled 8s ago',
    )
  })
})
