import { describe, expect, it } from 'vitest'
import { applyPlan } from '../../../../src/cli/domain-files/apply-plan.ts'
import { DOMAIN, file, plan, worldOf, type Answers } from '../../../support/domain-files/planned-world.ts'

const ENV = file('label-definition', 'env', { value_schema: { type: 'string', enum: ['test', 'prod'] } })

describe('A Definition of the files with the key of one of the platform', () => {
  const calls: Answers['calls'] = []
  const world = worldOf([], { calls })
  world.names.define({
    id: 'l1',
    scope: { kind: 'platform' },
    localKey: 'env',
    qualifiedKey: 'platform/env',
    type: 'string',
    inherit: true,
  })
  const web = file('project', 'shop', { display_name: 'Shop', labels: { env: 'prod' } })
  const policy = file('policy', 'closed', { selector: 'env=prod', rules: [] })

  it('is what labels and selectors mean before it exists', async () => {
    const { steps } = await plan(world, [ENV, web, policy])
    const changes = steps.flatMap((step) => step.changes.map(({ member, to }) => [step.kind, member, to]))
    expect(changes).toContainEqual(['project', 'labels.env', 'prod'])
    expect(changes).toContainEqual(['policy', 'selector', 'env=prod'])
  })

  it('is created in the Domain, and labels and policies are written with its key', async () => {
    await applyPlan(world, await plan(world, [ENV, web, policy]), () => undefined)
    const bodies = calls.map(({ operation, input }) => [operation, input['body']])
    expect(bodies).toContainEqual([
      'CreateLabelDefinition',
      expect.objectContaining({ scope: `domain:${DOMAIN}`, local_key: 'env' }),
    ])
    expect(bodies).toContainEqual(['PutObjectLabel', { qualified_key: `domain:${DOMAIN}/env`, value: 'prod' }])
    expect(bodies).toContainEqual(['CreatePolicy', expect.objectContaining({ selector: 'env=prod' })])
  })

  it('is created in its Project where its name says so', async () => {
    calls.length = 0
    const own = file('label-definition', 'project:web/env', { value_schema: { type: 'string' } })
    await applyPlan(world, await plan(world, [own]), () => undefined)
    expect(calls.map(({ input }) => input['body'])).toEqual([
      { scope: 'project:p1', local_key: 'env', value_schema: { type: 'string' } },
    ])
  })
})
