import { describe, expect, it } from 'vitest'
import type { CapacityHistory } from '../../../../../src/cli/commands/capacity/answers.ts'
import { plotLines, type PlotCanvas } from '../../../../../src/cli/commands/capacity/history/plot.ts'
import { plottable, scaleOf } from '../../../../../src/cli/commands/capacity/history/scale.ts'
import { svg } from '../../../../../src/cli/commands/capacity/history/svg.ts'
import { styleOf } from '../../../../../src/cli/output/style.ts'
import { displayWidth } from '../../../../../src/cli/output/width.ts'
import { hoursOf } from '../../../../golden/capacity-fleet.ts'
import { ID } from '../../../../golden/fleet.ts'

const plain = styleOf({ env: {} } as never, { isTty: false } as never, true)
const painted = styleOf({ env: {} } as never, { isTty: true } as never, false)

const history = (points: CapacityHistory['points'], more: Partial<CapacityHistory> = {}): CapacityHistory => ({
  domain_id: ID.domain,
  dimension: 'nodes',
  unit: 'count',
  points,
  ...more,
})
const plot = (found: CapacityHistory, more: Partial<PlotCanvas> = {}): readonly string[] =>
  plotLines(found, { name: 'default', style: plain, columns: 60, rows: 12, isUtf8: true, ...more })

/** Grows from nearly nothing beyond its target. */
const GROWING = history(
  hoursOf(
    8,
    (hour) => (hour + 1) * 15,
    () => 100,
  ),
)

describe('The plot of a history', () => {
  it('draws bars, the target as a line, and axes with units and dates', () => {
    expect(plot(GROWING, { columns: 80 })).toEqual([
      'nodes of default, hourly maximum, Feb 1 05:00 to Feb 1 12:00 (UTC)',
      '120 ┤╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌',
      '    │                ▄▄▄▄████████████',
      ' 60 ┤        ▄▄▄▄████████████████████',
      '    │▄▄▄▄████████████████████████████',
      '  0 └┬───────────────┬───────────────',
      '     Feb 1 05:00     09:00',
      '╌╌ target 100   last 120 of 100 (120 %), highest 120 on Feb 1 12:00',
    ])
  })

  it('draws with ASCII where there is nothing else', () => {
    const lines = plot(GROWING, { isUtf8: false, columns: 100 })
    expect(lines.join('\n')).toMatch(/^[\n -~]*$/)
    expect(lines).toContain('120 +--------------------------------')
  })

  it.each([1, 2, 5, 23, 24, 100, 720, 840])('fits every terminal with %d hours', (count) => {
    const found = history(
      hoursOf(
        count,
        (hour) => hour,
        () => 500,
      ),
    )
    for (const columns of [40, 80, 100, 200])
      for (const rows of [5, 24, 60]) {
        const lines = plot(found, { columns, rows })
        expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([])
        expect(lines.length).toBeLessThanOrEqual(Math.max(9, rows))
      }
  })

  it('leaves out what no plot can show: texts that are no times, and hours of other years', () => {
    const [kept] = hoursOf(
      1,
      () => 1,
      () => 2,
    )
    const others = ['', 'yesterday', '1970-01-01T00:00:00.000Z'].map((hour) => ({ hour, used_max: 9, target: 9 }))
    expect(plottable(history([...others, ...(kept === undefined ? [] : [kept])]))).toEqual([kept])
    expect(plottable(history([]))).toEqual([])
  })

  it('names the time of a single hour', () => {
    const one = history(
      hoursOf(
        1,
        () => 1,
        () => 2,
      ),
    )
    expect(plot(one).slice(-3)).toEqual([
      '0 └┬───',
      '   Feb 1 12:00',
      '╌╌ target 2   last 1 of 2 (50 %), highest 1 on Feb 1 12:00',
    ])
  })

  it('takes the largest of the hours that share a column', () => {
    const peak = history(
      hoursOf(
        840,
        (hour) => (hour === 401 ? 90 : 1),
        () => 100,
      ),
    )
    expect(plot(peak, { columns: 60, rows: 24 }).filter((line) => line.includes('█'))).not.toEqual([])
  })

  it('leaves hours without a sample empty', () => {
    const hours = hoursOf(
      4,
      () => 100,
      () => 0,
    )
    const lines = plot(history(hours.filter((_, hour) => hour !== 1)))
    expect(lines[2]).toBe('    │████    ████████')
  })

  it('leaves a target that is far away out of the scale, and says that it does', () => {
    const low = history(
      hoursOf(
        8,
        () => 50,
        () => 10_000,
      ),
    )
    expect(scaleOf(low)).toEqual({ top: 60, isTargetBeyond: true })
    expect(plot(low)[1]).toBe('    ↑ target 10,000, beyond the scale ╌╌╌╌')
    expect(scaleOf(GROWING).isTargetBeyond).toBe(false)
  })

  it('has a scale where nothing was used, and where there is no target', () => {
    const used = (amount: number, target: number) =>
      history(
        hoursOf(
          2,
          () => amount,
          () => target,
        ),
      )
    expect(scaleOf(used(0, 0))).toEqual({ top: 2, isTargetBeyond: false })
    expect(scaleOf(used(0, 500))).toEqual({ top: 600, isTargetBeyond: false })
    expect(scaleOf(used(3, 0))).toEqual({ top: 4, isTargetBeyond: false })
    expect(scaleOf({ ...used(0.03, 0), unit: 'events/sec' }).top).toBe(1)
    expect(scaleOf({ ...used(6_000_000, 0), unit: 'bytes/sec' }).top).toBe(6_291_456)
    expect(scaleOf(used(9e15, 9e15)).top).toBe(1e16)
  })

  it('paints what is near its target, and what is beyond', () => {
    const lines = plot(
      history(
        hoursOf(
          3,
          (hour) => [50, 85, 120][hour] ?? 0,
          () => 100,
        ),
      ),
      { style: painted },
    ).join('')
    for (const colour of ['32', '33', '31']) expect(lines).toContain(`\u001b[${colour}m`)
  })
})

describe('The picture of a history', () => {
  it('has a title and a description in words, both schemes, and no script', () => {
    const picture = svg(GROWING, 'a<b&"c"')
    expect(picture).toContain('<title id="title">nodes of a&#60;b&#38;&#34;c&#34;</title>')
    expect(picture).toMatch(/<desc id="desc">Hourly maximum of nodes of .*: last 120 of 100 \(120 %\), highest 120 on /)
    expect(picture).toContain('role="img" aria-labelledby="title desc"')
    expect(picture).toContain('@media (prefers-color-scheme:dark)')
    expect(picture).not.toMatch(/<script|javascript:|\son\w+=|href=/i)
  })

  it('draws one area for each run of hours, and a step where the target was changed', () => {
    const hours = hoursOf(
      6,
      () => 50,
      (hour) => (hour < 3 ? 100 : 200),
    ).filter((_, hour) => hour !== 1)
    const picture = svg(history(hours), 'default')
    expect(picture.match(/<path class="used"/g)).toHaveLength(2)
    expect(/<path class="aim" d="([^"]*)"/.exec(picture)?.[1]?.match(/V/g)?.length).toBeGreaterThan(0)
    expect(picture).not.toContain('NaN')
  })
})
