import { describe, expect, it } from 'vitest'
import { file, plan, worldOf } from '../../../support/domain-files/planned-world.ts'

const DEPLOYER = file('service-identity', 'deployer', { display_name: 'Deployer' })

describe('A reference that nothing has', () => {
  it.each([
    ['service:deplyer', 'there is no service:deplyer yet (did you mean service:deployer?)'],
    ['group:osp', 'there is no group:osp yet (did you mean group:ops?)'],
    ['user:deployer', 'there is no user:deployer yet'],
  ])('is shown with one of the files or the Domain that is like it: %s', async (member, what) => {
    const { waits } = await plan(worldOf(), [
      DEPLOYER,
      file('group', 'dev', { display_name: 'Dev', members: [member] }),
    ])
    expect(waits).toEqual([{ kind: 'group', name: 'dev', what }])
  })

  it('is no mistake where it differs from another one in digits alone', async () => {
    const ingress = [{ slug: 'shop', target_node: 'web-2' }]
    const resource = file('resource', 'web/edge', { type: 'bridge', display_name: 'Edge', hosts: ['web-2'], ingress })
    expect((await plan(worldOf(), [resource])).waits).toMatchObject([{ what: 'there is no node:web-2 yet' }])
  })
})
