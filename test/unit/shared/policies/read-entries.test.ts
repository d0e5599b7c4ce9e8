import { describe, expect, it } from 'vitest'
import { readEntries } from '../../../../src/shared/policies/read-entries.ts'

const ACCEPT = {
  action: 'accept',
  cidrs: [],
  direction: 'ingress',
  except_cidrs: [],
  except_groups: [],
  groups: [0],
  ports: [],
  protocol: 'any',
}
const isolate = (direction: string): object => ({ action: 'isolate', direction })
const { ports: _, ...WITHOUT_PORTS } = ACCEPT

describe('An accept entry that is not understood accepts nothing', () => {
  it.each([
    { ...ACCEPT, except_labels: [] },
    WITHOUT_PORTS,
    { ...ACCEPT, direction: 'both' },
    { ...ACCEPT, protocol: 'sctp' },
    { ...ACCEPT, ports: [[22, 80]] },
    { ...ACCEPT, protocol: 'tcp', ports: [[80, 22]] },
    { ...ACCEPT, protocol: 'tcp', ports: [[0, 22]] },
    { ...ACCEPT, protocol: 'tcp', ports: [22] },
    { ...ACCEPT, groups: [-1] },
    { ...ACCEPT, groups: ['1'] },
    { ...ACCEPT, groups: 1 },
    { ...ACCEPT, except_groups: [1.5] },
    { ...ACCEPT, cidrs: ['10.0.0.1/8'] },
    { ...ACCEPT, except_cidrs: ['everywhere'] },
  ])('case %#', (rule) => {
    expect(readEntries([rule, ACCEPT])).toEqual({ entries: [ACCEPT], unknown: 1 })
  })
})

describe('Any other entry that is not understood isolates', () => {
  it.each([
    [{ action: 'deny', direction: 'egress', groups: [1] }, ['egress']],
    [{ action: 'isolate', direction: 'ingress', except_groups: [1] }, ['ingress']],
    [{ action: 'isolate' }, ['ingress', 'egress']],
    [{ action: 'isolate', direction: 'both' }, ['ingress', 'egress']],
    [{ action: 'mirror' }, ['ingress', 'egress']],
    [{}, ['ingress', 'egress']],
    ['accept', ['ingress', 'egress']],
    [null, ['ingress', 'egress']],
    [[], ['ingress', 'egress']],
  ])('case %#', (rule, directions) => {
    expect(readEntries([rule])).toEqual({ entries: directions.map(isolate), unknown: 1 })
  })
})

it('Entries that are understood stay as they are', () => {
  const rules = [ACCEPT, { ...ACCEPT, protocol: 'udp', ports: [[1, 65_535]], cidrs: ['::/0'] }, isolate('egress')]
  expect(readEntries(rules)).toEqual({ entries: rules, unknown: 0 })
})
