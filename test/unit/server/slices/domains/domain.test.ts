import { describe, expect, it } from 'vitest'
import { newDomain, patchedDomain, toAnswer, touchesCaveats } from '../../../../../src/server/slices/domains/domain.ts'

const ID = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const CREATED = new Date('2026-03-01T08:00:00.000Z')
const CHANGED = new Date('2026-03-02T09:30:00.000Z')
const HOURS = { time_zone: 'Europe/Berlin', days: [5, 1], from: '08:00', to: '18:00' }

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

const acme = () => newDomain(ID, { slug: 'acme', display_name: 'Acme' }, CREATED)

describe('newDomain', () => {
  it('fills in every setting that was not named', () => {
    expect(acme()).toEqual({
      id: ID,
      slug: 'acme',
      display_name: 'Acme',
      mesh_cidr: '100.64.0.0/10',
      endpoint_ttl_seconds: 300,
      audit_retention_days: 400,
      trusted_networks: [],
      business_hours: null,
      strong_acr: [],
      peer_visibility: 'all',
      routed_networks: PRIVATE,
      step_up: {},
      created_at: CREATED,
      updated_at: CREATED,
    })
  })

  it('normalises networks and hours, and keeps each network once', () => {
    const body = {
      slug: 'acme',
      display_name: 'Acme',
      mesh_cidr: '100.70.1.1/16',
      endpoint_ttl: 60,
      trusted_networks: ['10.1.0.0/8', '10.0.0.0/8', '2001:DB8::/32'],
      business_hours: HOURS,
      strong_acr: ['urn:acr:hardware'],
    }
    expect(newDomain(ID, body, CREATED)).toMatchObject({
      mesh_cidr: '100.70.0.0/16',
      endpoint_ttl_seconds: 60,
      trusted_networks: ['10.0.0.0/8', '2001:db8::/32'],
      business_hours: { time_zone: 'Europe/Berlin', days: [1, 5], from: '08:00', to: '18:00' },
      strong_acr: ['urn:acr:hardware'],
    })
  })

  it('names every member that is wrong, and repeats none of their values', () => {
    const body = {
      slug: 'acme',
      display_name: 'Acme',
      mesh_cidr: '10.0.0.0/8',
      trusted_networks: ['10.0.0.0/8', 'office'],
      routed_networks: ['10.0.0.0/8/8'],
      business_hours: { ...HOURS, time_zone: 'Europe/Atlantis' },
    }
    expect(() => newDomain(ID, body, CREATED)).toThrow(
      expect.objectContaining({
        code: 'invalid_body',
        extras: {
          errors: [
            { pointer: '/mesh_cidr', detail: 'must be a network inside 100.64.0.0/10 with a prefix of at most 30' },
            { pointer: '/trusted_networks/1', detail: 'must be an IPv4 or IPv6 network such as 10.0.0.0/8' },
            { pointer: '/routed_networks/0', detail: 'must be an IPv4 or IPv6 network such as 10.0.0.0/8' },
            { pointer: '/business_hours/time_zone', detail: 'must be a known IANA time zone' },
          ],
        },
      }),
    )
  })
})

describe('patchedDomain', () => {
  it('changes the members that are named and the instant of change, and leaves the others', () => {
    const before = { ...acme(), business_hours: HOURS, strong_acr: ['a'] }
    expect(
      patchedDomain(before, { display_name: 'Acme Corp', endpoint_ttl: 30, audit_retention_days: 30 }, CHANGED),
    ).toEqual({
      ...before,
      display_name: 'Acme Corp',
      endpoint_ttl_seconds: 30,
      audit_retention_days: 30,
      business_hours: { ...HOURS, days: [1, 5] },
      updated_at: CHANGED,
    })
  })

  it('normalises the networks that bridges may lead to, and takes an empty list for none', () => {
    const routed = patchedDomain(acme(), { routed_networks: ['203.0.113.9/24', '203.0.113.0/24'] }, CHANGED)
    expect(routed.routed_networks).toEqual(['203.0.113.0/24'])
    expect(patchedDomain(routed, { display_name: 'Acme' }, CHANGED).routed_networks).toEqual(['203.0.113.0/24'])
    expect(patchedDomain(routed, { routed_networks: [] }, CHANGED).routed_networks).toEqual([])
  })

  it('clears business hours with null, and lists with an empty list', () => {
    const before = { ...acme(), business_hours: HOURS, trusted_networks: ['10.0.0.0/8'], strong_acr: ['a'] }
    const patch = { business_hours: null, trusted_networks: [], strong_acr: [] }
    expect(patchedDomain(before, patch, CHANGED)).toMatchObject(patch)
  })

  it('refuses a network that is none', () => {
    expect(() => patchedDomain(acme(), { trusted_networks: ['10.0.0.0/40'] }, CHANGED)).toThrow(
      expect.objectContaining({
        code: 'invalid_body',
        extras: {
          errors: [{ pointer: '/trusted_networks/0', detail: 'must be an IPv4 or IPv6 network such as 10.0.0.0/8' }],
        },
      }),
    )
  })
})

describe('touchesCaveats', () => {
  it.each([
    [{ display_name: 'Acme' }, false],
    [{ endpoint_ttl: 60 }, false],
    [{ trusted_networks: [] }, true],
    [{ business_hours: null }, true],
    [{ strong_acr: [] }, true],
  ])('says of %j: %s', (patch, touches) => {
    expect(touchesCaveats(patch)).toBe(touches)
  })
})

describe('toAnswer', () => {
  it('writes instants as RFC 3339 in UTC with milliseconds', () => {
    expect(toAnswer({ ...acme(), updated_at: CHANGED })).toEqual({
      id: ID,
      slug: 'acme',
      display_name: 'Acme',
      mesh_cidr: '100.64.0.0/10',
      endpoint_ttl: 300,
      audit_retention_days: 400,
      trusted_networks: [],
      business_hours: null,
      strong_acr: [],
      peer_visibility: 'all',
      routed_networks: PRIVATE,
      step_up: {},
      created_at: '2026-03-01T08:00:00.000Z',
      updated_at: '2026-03-02T09:30:00.000Z',
    })
  })
})
