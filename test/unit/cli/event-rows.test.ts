import { expect, test } from 'vitest'
import { tableRow } from '../../../src/cli/commands/events/node-rows.ts'

const ID = '0197a000-0000-7000-8000-00000000a001'

/** What a table says about a hint with these members. */
function about(members: object): unknown {
  const payload = { reason: 'changed', blocks: ['peers'], peers: [], ...members }
  return tableRow({ id: '1', event: 'node_state_updated', data: JSON.stringify({ payload }) }, {})['about']
}

test.each([
  ['no groups', {}, 'peers'],
  ['a group', { groups: [{ group: 7, added: [ID, ID], removed: [ID] }] }, 'peers; group 7 +2 -1'],
  [
    'a peer in other groups',
    { peers: [{ node_id: ID, changes: ['groups_changed'], groups: [1] }] },
    'peers; 0000a001 groups_changed',
  ],
  [
    'more groups than are listed',
    { groups: [1, 2, 3, 4].map((group) => ({ group, added: [ID], removed: [] })) },
    'peers; group 1 +1 -0; group 2 +1 -0; 2 more groups',
  ],
])('The row of a hint names %s', (_, members, text) => {
  expect(about(members)).toBe(text)
})
