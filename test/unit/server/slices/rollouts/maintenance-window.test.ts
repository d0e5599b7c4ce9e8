import { describe, expect, it } from 'vitest'
import { isOpen, isTimeZone } from '../../../../../src/server/slices/rollouts/maintenance-window.ts'

const at = (instant: string) => Date.parse(instant)

describe('A maintenance window', () => {
  const daytime = { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '16:00' }
  it.each([
    ['before it opens', '2026-03-02T07:59:59.999Z', false],
    ['at the minute in which it opens', '2026-03-02T08:00:00.000Z', true],
    ['in its last minute', '2026-03-02T14:59:59.999Z', true],
    ['at the minute in which it closes', '2026-03-02T15:00:00.000Z', false],
    ['on another weekday', '2026-03-01T10:00:00.000Z', false],
    ['in summer before nine in Berlin', '2026-07-06T06:59:00.000Z', false],
    ['in summer at nine in Berlin', '2026-07-06T07:00:00.000Z', true],
  ])('from 09:00 to 16:00 in Berlin is %s open: %s', (_when, instant, open) => {
    expect(isOpen(daytime, at(instant))).toBe(open)
  })

  const night = { time_zone: 'America/New_York', days: [7], from: '22:00', to: '02:00' }
  it.each([
    ['Sunday 21:59', '2026-03-02T02:59:00.000Z', false],
    ['Sunday 22:00', '2026-03-02T03:00:00.000Z', true],
    ['Monday 00:00', '2026-03-02T05:00:00.000Z', true],
    ['Monday 01:59', '2026-03-02T06:59:00.000Z', true],
    ['Monday 02:00', '2026-03-02T07:00:00.000Z', false],
    ['Monday 22:00', '2026-03-03T03:00:00.000Z', false],
    ['Sunday 01:00, which is not of that Sunday', '2026-03-01T06:00:00.000Z', false],
  ])('across midnight belongs to the day on which it opens: %s', (_when, instant, open) => {
    expect(isOpen(night, at(instant))).toBe(open)
  })

  it('that a change to summer time leaves out does not open on that day', () => {
    const window = { time_zone: 'Europe/Berlin', days: [7], from: '02:00', to: '03:00' }
    for (let minutes = -60; minutes <= 120; minutes++)
      expect(isOpen(window, at('2026-03-29T01:00:00.000Z') + minutes * 60_000)).toBe(false)
    expect(isOpen(window, at('2026-03-22T01:30:00.000Z'))).toBe(true)
  })

  it('opens twice where the clock is set back through it', () => {
    const window = { time_zone: 'Europe/Berlin', days: [7], from: '02:00', to: '03:00' }
    const opened = ['23:59', '00:00', '00:59', '01:00', '01:59', '02:00'].map((time) =>
      isOpen(window, at(`2026-10-${time === '23:59' ? '24' : '25'}T${time}:00.000Z`)),
    )
    expect(opened).toEqual([false, true, true, true, true, false])
  })

  it('goes by the weekday of its zone', () => {
    const window = { time_zone: 'Pacific/Auckland', days: [1], from: '00:00', to: '23:59' }
    expect(isOpen(window, at('2026-03-01T12:00:00.000Z'))).toBe(true)
    expect(isOpen(window, at('2026-03-02T12:00:00.000Z'))).toBe(false)
  })

  it.each([
    ['UTC', true],
    ['Europe/Berlin', true],
    ['America/Argentina/Buenos_Aires', true],
    ['Etc/GMT+1', true],
    ['+01:00', false],
    ['Berlin', false],
    ['Mars/Olympus', false],
    ['', false],
  ])('may be in the zone %s: %s', (zone, known) => {
    expect(isTimeZone(zone)).toBe(known)
  })
})
