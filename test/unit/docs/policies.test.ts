import { describe, expect, it } from 'vitest'
import { policyErrors } from '../../../src/shared/policies/parse-rules.ts'
import { sideAllows } from '../../../src/shared/policies/verdict.ts'
import { PolicyCreateRequest } from '../../../src/shared/contract/policy-schemas.ts'
import { recipes, worldOf, type Recipe, type World } from '../../support/policies-document.ts'

const RECIPES = recipes()

/** Pairs of a test that do not do what it expects. */
function broken(world: World, { policies }: Recipe): readonly string[] {
  return policies.flatMap(({ slug, tests = [] }) =>
    tests.flatMap(({ from, to, protocol, port, expect: expected }) =>
      world.selected(from).flatMap((sender) =>
        world.selected(to).flatMap((receiver) => {
          const isAllowed = sender === receiver || world.allowed(sender, receiver, { protocol, port })
          const holds = sender === receiver || isAllowed === (expected === 'allowed')
          return holds ? [] : [`${slug}: ${sender} to ${receiver}, ${protocol} ${port ?? ''}`]
        }),
      ),
    ),
  )
}

describe('The recipes of docs/policies.md', () => {
  it('are twelve, the first six of them those that people ask for first', () => {
    expect(RECIPES.map(({ title }) => title).slice(0, 6)).toEqual([
      '1. Default deny',
      '2. Three tiers',
      '3. A bastion',
      '4. Per team',
      '5. Quarantine one node',
      '6. Exit by CIDR',
    ])
    expect(RECIPES).toHaveLength(12)
  })

  it.each(RECIPES)('can be created as they are: $title', ({ policies }) => {
    expect(policies.map((policy) => PolicyCreateRequest.safeParse(policy).error)).toEqual(policies.map(() => undefined))
    expect(policies.flatMap(policyErrors)).toEqual([])
  })

  it.each(RECIPES)('pass their own tests: $title', (recipe) => {
    expect(broken(worldOf(recipe.policies), recipe)).toEqual([])
  })

  it.each(RECIPES)('have no test that says nothing: $title', ({ policies }) => {
    const world = worldOf(policies)
    const ends = policies.flatMap(({ tests = [] }) => tests.flatMap(({ from, to }) => [from, to]))
    expect(ends.filter((selector) => world.selected(selector).length === 0)).toEqual([])
    expect(ends.length).toBeGreaterThan(1)
  })

  it.each(RECIPES)('take away what their tests deny: $title', (recipe) => {
    expect(broken(worldOf([]), recipe).length).toBeGreaterThan(0)
  })

  it('let web nodes out to the network that recipe 6 names, and to no other', () => {
    const { policies } = worldOf(RECIPES[5]?.policies ?? []).party('web-1')
    const out = (meshAddress: string, port: number) =>
      sideAllows(policies, { groups: [], meshAddress }, { direction: 'egress', protocol: 'tcp', port }).allowed
    expect([out('203.0.113.9', 443), out('203.0.113.9', 80), out('198.51.100.9', 443)]).toEqual([true, false, false])
  })

  it('have a mistake in db-in of recipe 2 found by its tests', () => {
    const policies = (RECIPES[1]?.policies ?? []).map((policy) =>
      policy.slug === 'db-in'
        ? { ...policy, rules: policy.rules.map((rule) => ({ ...rule, peers: 'tier=web' })) }
        : policy,
    )
    expect(broken(worldOf(policies), { title: '', policies })).toEqual([
      'db-in: api-1 to db-1, tcp 5432',
      'db-in: api-1 to db-2, tcp 5432',
      'db-in: web-1 to db-1, tcp 5432',
      'db-in: web-1 to db-2, tcp 5432',
      'db-in: web-2 to db-1, tcp 5432',
      'db-in: web-2 to db-2, tcp 5432',
    ])
  })
})
