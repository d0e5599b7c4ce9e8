import { describe, expect, it } from 'vitest'
import { divide, type Division } from '../../../../../src/server/slices/rollouts/waves.ts'

const nodes = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `n${n}`, name: `node-${n}` }))
const plan = (members: Partial<Division>): Division => ({
  rolloutId: 'r',
  canaries: 0,
  waves: [{ percent: 100 }],
  groupOf: () => new Set(),
  ...members,
})
const sizes = (count: number, members: Partial<Division>) => {
  const found: Record<number, number> = {}
  for (const { wave } of divide(nodes(count), plan(members))) found[wave] = (found[wave] ?? 0) + 1
  return found
}

describe('The waves of a rollout', () => {
  it.each([
    ['are cumulative', 100, [5, 25, 100], { 1: 5, 2: 20, 3: 75 }],
    ['are rounded up', 101, [5, 25, 100], { 1: 6, 2: 20, 3: 75 }],
    ['are exact where a share is whole', 100, [7, 14, 100], { 1: 7, 2: 7, 3: 86 }],
    ['may be empty', 3, [1, 30, 34, 100], { 1: 1, 3: 1, 4: 1 }],
    ['of a single node are its first one', 1, [1, 50, 100], { 1: 1 }],
    ['of no nodes are empty', 0, [50, 100], {}],
  ])('by percent %s', (_rule, count, percents, expected) => {
    expect(sizes(count, { waves: percents.map((percent) => ({ percent })) })).toEqual(expected)
  })

  it('count canaries among those that are upgraded', () => {
    expect(sizes(100, { canaries: 3, waves: [{ percent: 5 }, { percent: 100 }] })).toEqual({ 0: 3, 1: 2, 2: 95 })
    expect(sizes(100, { canaries: 5, waves: [{ percent: 2 }, { percent: 100 }] })).toEqual({ 0: 5, 2: 95 })
    expect(sizes(2, { canaries: 5 })).toEqual({ 0: 2 })
  })

  it('by group take the nodes of the group that no earlier wave has, and leave others out', () => {
    const groups: Readonly<Record<string, ReadonlySet<string>>> = {
      early: new Set(['n1', 'n2', 'n3']),
      late: new Set(['n3', 'n4']),
    }
    const turns = divide(
      nodes(8),
      plan({
        waves: [{ update_group: 'early' }, { update_group: 'late' }, { update_group: 'none' }],
        groupOf: (value) => groups[value] ?? new Set(),
      }),
    )
    expect(turns.map(({ id, wave }) => `${wave} ${id}`).toSorted()).toEqual(['1 n1', '1 n2', '1 n3', '2 n4'])
  })

  it('by percent count the nodes of groups before them among those that are upgraded', () => {
    const groupOf = () => new Set(['n1', 'n2', 'n3'])
    expect(sizes(10, { waves: [{ update_group: 'a' }, { percent: 50 }, { percent: 100 }], groupOf })).toEqual({
      1: 3,
      2: 2,
      3: 5,
    })
  })

  it('number the turns through, wave after wave', () => {
    const turns = divide(nodes(20), plan({ canaries: 1, waves: [{ percent: 30 }, { percent: 100 }] }))
    expect(turns.map(({ place }) => place)).toEqual(Array.from({ length: 20 }, (_, place) => place))
    const waves = turns.map(({ wave }) => wave)
    expect(waves).toEqual(waves.toSorted((a, b) => a - b))
  })

  it('have the order of the rollout, whatever order the nodes are read in', () => {
    const order = (rolloutId: string, read: ReturnType<typeof nodes>) =>
      divide(read, plan({ rolloutId })).map(({ id }) => id)
    const first = order('r', nodes(6))
    expect(order('r', nodes(6).toReversed())).toEqual(first)
    expect(first).toEqual(['n1', 'n2', 'n3', 'n5', 'n4', 'n0'])
    expect(order('s', nodes(6))).not.toEqual(first)
  })
})
