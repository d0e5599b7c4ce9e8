import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFirewall, type Firewall } from '../../../src/cli/agent/firewall/firewall.ts'
import { verdictOf, type Party } from '../../../src/shared/policies/verdict.ts'
import { startBoxes, type Boxes, type Target } from '../../support/firewall/boxes.ts'
import { party } from '../../support/policies/policy-worlds.ts'
import { depth } from '../../support/run/depth.ts'
import { requirement } from '../../support/run/requirements.mjs'

const ADDRESSES = ['100.64.0.1', '100.64.0.2', '100.64.0.5', '100.64.0.9']
const FLOWS = [
  { protocol: 'tcp', port: 2 },
  { protocol: 'tcp', port: 7 },
  { protocol: 'udp', port: 5 },
  { protocol: 'icmp', port: 0 },
] as const
const ROUNDS = depth({ ci: 20, deep: 200 })
/** Dropped packets are only known by waiting; what is allowed and late is asked again with more time. */
const DROPPED_AFTER_MS = 250
const LATE_AFTER_MS = 5_000

describe.skipIf(requirement('mesh-lab') === undefined)('verdicts of real packets', () => {
  let lab: Boxes
  let firewalls: readonly Firewall[]
  const faults: string[] = []

  beforeAll(async () => {
    lab = await startBoxes(ADDRESSES, 'tcp:2,tcp:7,udp:5')
    firewalls = lab.boxes.map(({ run }) => createFirewall({ run, log: (line) => void faults.push(line) }))
  })
  afterAll(() => lab?.stop())

  /** Applies the policies of each box, and asks every flow between every two boxes. */
  async function passing(parties: readonly Party[]): Promise<readonly (readonly boolean[])[]> {
    const peers = parties.map(({ groups, meshAddress }, index) => ({
      nodeId: `${index}`,
      address: meshAddress,
      groups,
    }))
    await Promise.all(
      firewalls.map((firewall, own) =>
        firewall.apply({
          interfaceName: 'ctl0',
          forwards: [],
          policies: (parties[own]?.policies ?? []).map((policy) => ({
            ...policy,
            revisionId: 'r',
            fingerprint: 'f',
            unknown: 0,
          })),
          peers: peers.filter((_, index) => index !== own),
        }),
      ),
    )
    return Promise.all(lab.boxes.map((box, own) => box.reach(targetsOf(own), DROPPED_AFTER_MS)))
  }

  test(`${ROUNDS} random sets of policies let pass what the verdict of both ends says, for every two of four boxes`, async () => {
    const parties = fc.sample(fc.array(party, { minLength: 4, maxLength: 4 }), { numRuns: ROUNDS, seed: 31 })
    const counts = { allowed: 0, denied: 0 }
    for (const sample of parties) {
      const world = sample.map((one, index): Party => ({ ...one, meshAddress: ADDRESSES[index] ?? '' }))
      const results = await passing(world)
      for (const [own, reached] of results.entries()) {
        for (const [index, target] of targetsOf(own).entries()) {
          const isAllowed = isAllowedBy(world, own, target)
          counts[isAllowed ? 'allowed' : 'denied'] += 1
          const isReached = reached[index] === true || (isAllowed && (await isReachedLate(own, target)))
          const asked = `${ADDRESSES[own]} to ${JSON.stringify(target)} by ${JSON.stringify(world)}`
          expect(isReached, asked).toBe(isAllowed)
        }
      }
    }
    expect(faults).toEqual([])
    expect(counts.allowed).toBeGreaterThan(ROUNDS * 5)
    expect(counts.denied).toBeGreaterThan(ROUNDS * 5)
  }, 600_000)

  async function isReachedLate(own: number, target: Target): Promise<boolean> {
    const reached = await lab.boxes[own]?.reach([target], LATE_AFTER_MS)
    return reached?.[0] === true
  }
})

function targetsOf(own: number): readonly Target[] {
  return ADDRESSES.filter((_, index) => index !== own).flatMap((address) => FLOWS.map((flow) => ({ ...flow, address })))
}

function isAllowedBy(world: readonly Party[], own: number, { address, protocol, port }: Target): boolean {
  const [from, to] = [world[own], world[ADDRESSES.indexOf(address)]]
  if (from === undefined || to === undefined) throw new Error('no such box')
  return verdictOf(from, to, protocol === 'icmp' ? { protocol } : { protocol, port }).allowed
}
