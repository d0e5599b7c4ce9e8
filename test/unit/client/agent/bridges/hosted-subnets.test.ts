import { expect, test } from 'vitest'
import { hostedSubnets } from '../../../../../src/client/agent/bridges/hosted-subnets.ts'

test('the subnets that a node hosts are those of all tunnels of its bridges, without texts that are no network', () => {
  const config = (...tunnels: readonly (readonly string[])[]) => ({
    config: JSON.stringify({ tunnels: tunnels.map((subnets) => ({ allowed_subnets: subnets })) }),
  })
  expect(
    hostedSubnets([config(['10.1.0.0/16'], ['10.2.0.0/16', 'elsewhere']), config(), config(['fd00::/64'])]),
  ).toEqual(['10.1.0.0/16', '10.2.0.0/16', 'fd00::/64'])
})
