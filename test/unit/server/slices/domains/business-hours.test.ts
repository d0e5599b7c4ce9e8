import { describe, expect, it } from 'vitest'
import { faultOfHours, normalizeHours } from '../../../../../src/server/slices/domains/business-hours.ts'

const HOURS = { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '08:30', to: '17:00' }

describe('faultOfHours', () => {
  it.each([
    ['hours within a day', {}],
    ['hours past midnight', { from: '22:00', to: '06:00' }],
    ['UTC', { time_zone: 'UTC' }],
    ['an alias of a zone', { time_zone: 'Asia/Kolkata' }],
  ])('finds nothing wrong with %s', (_what, members) => {
    expect(faultOfHours({ ...HOURS, ...members })).toBeUndefined()
  })

  it.each(['Europe/Atlantis', 'berlin', '+02:00', '', '/etc/passwd'])('refuses the time zone %j', (zone) => {
    expect(faultOfHours({ ...HOURS, time_zone: zone })).toEqual({
      pointer: '/time_zone',
      detail: 'must be a known IANA time zone',
    })
  })

  it('refuses hours that end where they start', () => {
    expect(faultOfHours({ ...HOURS, from: '09:00', to: '09:00' })).toEqual({
      pointer: '/to',
      detail: 'must differ from the start',
    })
  })
})

describe('normalizeHours', () => {
  it('sorts the days and keeps each once', () => {
    expect(normalizeHours({ ...HOURS, days: [7, 1, 7, 3, 1] }).days).toEqual([1, 3, 7])
  })

  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['utc', 'UTC'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
  ])('spells the zone %s as %s', (sent, stored) => {
    expect(normalizeHours({ ...HOURS, time_zone: sent }).time_zone).toBe(stored)
  })
})
