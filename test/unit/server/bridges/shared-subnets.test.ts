import { expect, test } from 'vitest'
import type { PartName } from '../../../../src/server/bridges/bridge-parts.ts'
import { sharedSubnets } from '../../../../src/server/bridges/shared-subnets.ts'

const HQ: PartName = 'site-to-site/hq'
const STAFF: PartName = 'user-access/staff'

test('a part that has addresses of another bridge is found once for each of them, whichever is larger', () => {
  const own = [
    { part: HQ, subnets: ['10.20.0.0/16', '10.30.0.0/16'] },
    { part: STAFF, subnets: ['10.40.7.0/24'] },
  ]
  const elsewhere = [
    { resourceId: 'a', subnets: ['10.20.7.0/24', '10.30.7.0/24', '192.168.0.0/24'] },
    { resourceId: 'b', subnets: ['10.0.0.0/8', 'fd00::/64'] },
    { resourceId: 'c', subnets: ['10.50.0.0/16'] },
  ]
  expect(sharedSubnets(own, elsewhere, 9)).toEqual([
    { part: HQ, subnet: '10.20.0.0/16', resourceId: 'a' },
    { part: HQ, subnet: '10.20.0.0/16', resourceId: 'b' },
    { part: STAFF, subnet: '10.40.7.0/24', resourceId: 'b' },
  ])
  expect(sharedSubnets(own, elsewhere, 2)).toHaveLength(2)
})

test('a subnet counts with those inside of it that the part lists before it', () => {
  const own = [{ part: HQ, subnets: ['10.0.0.0/16', '10.0.0.0/8'] }]
  expect(sharedSubnets(own, [{ resourceId: 'a', subnets: ['10.7.0.0/24'] }], 9)).toEqual([
    { part: HQ, subnet: '10.0.0.0/8', resourceId: 'a' },
  ])
})
