import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { businessHoursValue } from '../../src/server/adapters/embedded-authz/business-hours.ts'
import { caveatVerdict } from '../../src/server/adapters/embedded-authz/caveats.ts'
import { UNKNOWN, VIOLATED, YES } from '../../src/shared/authz/engine/verdict.ts'
import { SCHEMA } from '../../src/shared/authz/schema.ts'
import { SERVICE_MODEL } from '../../src/shared/authz/service-model.ts'
import { tuple } from '../support/authz/tuples.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startOracle, type OracleCheck } from '../support/authz/spicedb-oracle.ts'

const ANSWERS: { readonly [verdict: number]: string } = { [YES]: 'yes', [VIOLATED]: 'no', [UNKNOWN]: 'unknown' }

/**
 * One moment, one caller, one Domain. Values that are undefined are not known. Some network is always trusted: over an
 * empty list CEL answers before it misses the address, where the server says that the address is not known. Both deny.
 */
interface Scene {
  readonly nowMs: number
  readonly hours: { time_zone: string; days: number[]; from: number; to: number } | undefined
  readonly sourceIp: string | undefined
  readonly networks: readonly string[]
  readonly acr: string | undefined
  readonly strongAcr: readonly string[]
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 6 })
const quarter = fc.nat(95).map((at) => at * 15)

/** Hours around the moments at which clocks change in some of the zones, in spring and in autumn. */
const clockChanges = fc
  .tuple(
    fc.constantFrom('2025-03-30T01:00Z', '2025-10-26T01:00Z', '2026-03-08T05:31Z', '2026-11-01T04:31Z'),
    fc.integer({ min: -180, max: 180 }),
  )
  .map(([at, minutes]) => Date.parse(at) + minutes * 60_000)

const scenes: fc.Arbitrary<Scene> = fc.record({
  nowMs: fc.oneof(fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2027-12-31') }), clockChanges),
  hours: maybe(
    fc.record({
      time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati'),
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 6 }),
      from: quarter,
      to: quarter,
    }),
  ),
  sourceIp: maybe(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.1.2.3', '10.2.0.1', '2001:db8::5'))),
  networks: fc.subarray(['10.1.0.0/16', '10.0.0.0/8', '128.0.0.0/1', '2001:db8::/32', '8000::/1', '10.1.2.3/32'], {
    minLength: 1,
  }),
  acr: maybe(fc.constantFrom('gold', 'silver', '')),
  strongAcr: fc.subarray(['gold', 'platinum']),
})

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

function ourAnswers({ nowMs, hours, sourceIp, networks, acr, strongAcr }: Scene): string[] {
  const settings = {
    trustedNetworks: networks,
    businessHours: hours && businessHoursValue({ ...hours, from: clock(hours.from), to: clock(hours.to) }),
    strongAcr,
  }
  const facts = { nowMs, ...(sourceIp !== undefined && { sourceIp }), ...(acr !== undefined && { acr }) }
  return [...SERVICE_MODEL.caveats.values()].map(
    (caveat) => ANSWERS[caveatVerdict(caveat, { facts, settings }, undefined)] ?? '',
  )
}

/** The same scene in the values that the caveats of the schema read; IPv4 addresses mapped into IPv6 are sent as IPv4. */
function contextOf({ nowMs, hours, sourceIp, networks, acr, strongAcr }: Scene): Readonly<Record<string, unknown>> {
  return {
    now: new Date(nowMs).toISOString(),
    trusted_networks: networks,
    strong_acr: strongAcr,
    ...(hours !== undefined && {
      business_hours: { time_zone: hours.time_zone, days: hours.days, from_minute: hours.from, to_minute: hours.to },
    }),
    ...(sourceIp !== undefined && { source_ip: ipaddr.process(sourceIp).toString() }),
    ...(acr !== undefined && { acr }),
  }
}

describe.skipIf(requirement('spicedb') === undefined)('real SpiceDB, evaluating the caveats of the schema', () => {
  test('agrees with the server on every moment, address and session', { timeout: 300_000 }, async () => {
    const seen = fc.sample(scenes, { numRuns: depth({ ci: 400, deep: 10_000 }), seed: 7 })
    const names = [...SERVICE_MODEL.caveats.keys()]
    const checks = seen.flatMap((scene) =>
      names.map((name): OracleCheck => ({
        resource: ['domain', name],
        permission: 'manage',
        subject: ['user', 'ann'],
        context: contextOf(scene),
      })),
    )
    const oracle = startOracle()
    const tuples = names.map((name) => tuple(`domain:${name}#admin@user:ann[${name}]`))
    const answers = await oracle.ask({ schema: SCHEMA, tuples, checks }).finally(() => oracle.close())
    const told = (list: readonly string[]) =>
      list.map((answer, at) => ({ caveat: names[at % 3], answer, scene: seen[Math.floor(at / 3)] }))
    expect(told(seen.flatMap(ourAnswers))).toEqual(told(answers))
    expect(new Set(answers)).toEqual(new Set(['yes', 'no', 'unknown']))
  })
})
