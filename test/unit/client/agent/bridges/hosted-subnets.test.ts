import { expect, test } from 'vitest'
import { hostedSubnets } from '../../../../../src/client/agent/bridges/hosted-subnets.ts'

interface Hosted {
  /** Of each tunnel. */
  readonly tunnels?: readonly (readonly string[])[]
  /** Of each provider of user access. */
  readonly devices?: readonly (string | undefined)[]
}

const bridge = ({ tunnels = [], devices = [] }: Hosted) => ({
  config: JSON.stringify({
    tunnels: tunnels.map((subnets) => ({ allowed_subnets: subnets })),
    user_access: devices.map((subnet) => ({ peer_subnet: subnet })),
  }),
})

test('the subnets that a node hosts are those of all tunnels of its bridges, without texts that are no network', () => {
  expect(
    hostedSubnets([
      bridge({ tunnels: [['10.1.0.0/16'], ['10.2.0.0/16', 'elsewhere']] }),
      bridge({}),
      bridge({ tunnels: [['fd00::/64']] }),
    ]),
  ).toEqual(['10.1.0.0/16', '10.2.0.0/16', 'fd00::/64'])
})

test('those of the devices of people are among them, where a provider has one', () => {
  expect(hostedSubnets([bridge({ tunnels: [['10.1.0.0/16']], devices: ['10.3.0.0/24', undefined] })])).toEqual([
    '10.1.0.0/16',
    '10.3.0.0/24',
  ])
})
