import { describe, expect, test } from 'vitest'
import { businessHoursValue } from '../../../../../src/server/adapters/embedded-authz/business-hours.ts'
import { caveatVerdict } from '../../../../../src/server/adapters/embedded-authz/caveats.ts'
import type { DomainSettings } from '../../../../../src/server/adapters/embedded-authz/domain-settings.ts'
import type { CaveatFacts } from '../../../../../src/server/ports/authorizer.ts'
import { UNKNOWN, VIOLATED, YES } from '../../../../../src/shared/authz/engine/verdict.ts'
import { SERVICE_MODEL } from '../../../../../src/shared/authz/service-model.ts'

const ANSWERS = { [YES]: 'holds', [VIOLATED]: 'does not hold', [UNKNOWN]: 'is not known' }

const settings = {
  trustedNetworks: ['10.1.0.0/16', '2001:db8::/32'],
  businessHours: businessHoursValue({ time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:30' }),
  strongAcr: ['gold', 'platinum'],
}

/** A Monday, 10:00 in Berlin. */
const MONDAY = Date.parse('2026-03-02T09:00:00Z')

function told(caveat: string, facts: Partial<CaveatFacts>, given: DomainSettings | null = settings) {
  const model = SERVICE_MODEL.caveats.get(caveat)
  if (model === undefined) throw new Error(`no caveat ${caveat}`)
  return ANSWERS[
    caveatVerdict(model, { facts: { nowMs: MONDAY, ...facts }, settings: given ?? undefined }, undefined) as 1 | 2 | 3
  ]
}

test('the schema has the three caveats that the service ships', () => {
  expect(
    [...SERVICE_MODEL.caveats.values()].map(({ name, parameters }) => [name, parameters.map((each) => each.name)]),
  ).toEqual([
    ['within_hours', ['now', 'business_hours']],
    ['from_network', ['source_ip', 'trusted_networks']],
    ['strong_auth', ['acr', 'strong_acr']],
  ])
})

describe('within_hours', () => {
  test.each([
    ['2026-03-02T07:59:59Z', 'does not hold', 'a second before the start'],
    ['2026-03-02T08:00:00Z', 'holds', 'at the start'],
    ['2026-03-02T16:29:59Z', 'holds', 'a second before the end'],
    ['2026-03-02T16:30:00Z', 'does not hold', 'at the end'],
    ['2026-03-06T10:00:00Z', 'holds', 'on Friday'],
    ['2026-03-07T10:00:00Z', 'does not hold', 'on Saturday'],
    ['2026-03-08T10:00:00Z', 'does not hold', 'on Sunday'],
    ['2026-07-06T07:00:00Z', 'holds', 'by the clock of summer'],
    ['2026-07-06T15:30:00Z', 'does not hold', 'by the clock of summer, after the end'],
  ])('at %s it %s: %s', (at, answer) => {
    expect(told('within_hours', { nowMs: Date.parse(at) })).toBe(answer)
  })

  const nights = {
    ...settings,
    businessHours: businessHoursValue({ time_zone: 'UTC', days: [5, 7], from: '22:00', to: '06:00' }),
  }
  test.each([
    ['2026-03-06T21:59:00Z', 'does not hold', 'Friday before the start'],
    ['2026-03-06T22:00:00Z', 'holds', 'Friday night'],
    ['2026-03-07T05:59:00Z', 'holds', 'Saturday morning, still the night of Friday'],
    ['2026-03-07T06:00:00Z', 'does not hold', 'Saturday after the end'],
    ['2026-03-07T23:00:00Z', 'does not hold', 'Saturday night'],
    ['2026-03-09T03:00:00Z', 'holds', 'Monday morning, still the night of Sunday'],
    ['2026-03-06T03:00:00Z', 'does not hold', 'Friday morning, the night of Thursday'],
  ])('past midnight: at %s it %s: %s', (at, answer) => {
    expect(told('within_hours', { nowMs: Date.parse(at) }, nights)).toBe(answer)
  })

  test('is not known where the Domain has no hours, or hours in a place that nobody knows', () => {
    const lost = businessHoursValue({ time_zone: 'Middle-earth/Shire', days: [1], from: '09:00', to: '17:00' })
    expect(told('within_hours', {}, { ...settings, businessHours: undefined })).toBe('is not known')
    expect(told('within_hours', {}, { ...settings, businessHours: lost })).toBe('is not known')
  })
})

describe('from_network', () => {
  test.each([
    ['10.1.255.255', 'holds'],
    ['10.2.0.0', 'does not hold'],
    ['::ffff:10.1.2.3', 'holds'],
    ['2001:db8:1::1', 'holds'],
    ['2001:db9::1', 'does not hold'],
    ['unix', 'is not known'],
  ])('%s: %s', (sourceIp, answer) => {
    expect(told('from_network', { sourceIp })).toBe(answer)
  })

  test('does not hold where no network is trusted', () => {
    expect(told('from_network', { sourceIp: '10.1.0.1' }, { ...settings, trustedNetworks: [] })).toBe('does not hold')
  })

  test('is not known of anybody whose address is not known', () => {
    expect(told('from_network', {})).toBe('is not known')
  })
})

describe('strong_auth', () => {
  test.each([
    ['gold', 'holds'],
    ['silver', 'does not hold'],
    [undefined, 'is not known'],
  ])('acr %s: %s', (acr, answer) => {
    expect(told('strong_auth', acr === undefined ? {} : { acr })).toBe(answer)
  })
})

test.each(['within_hours', 'from_network', 'strong_auth'])(
  '%s is not known outside of Domains, which have settings',
  (name) => {
    expect(told(name, { sourceIp: '10.1.0.1', acr: 'gold' }, null)).toBe('is not known')
  },
)

describe('fields that the question does not allow', () => {
  const model = SERVICE_MODEL.caveats.get('from_network')
  const known = { facts: { nowMs: MONDAY, sourceIp: '10.1.0.1' }, settings }
  test.each([
    [['source_ip', 'trusted_networks'], YES],
    [['source_ip'], UNKNOWN],
    [['trusted_networks', 'now'], UNKNOWN],
    [[], UNKNOWN],
  ])('allowing %j: %i', (names, verdict) => {
    expect(model && caveatVerdict(model, known, new Set(names))).toBe(verdict)
  })
})
