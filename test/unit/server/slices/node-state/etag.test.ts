import { expect, test } from 'vitest'
import { etagOf, isNamed } from '../../../../../src/server/slices/node-state/etag.ts'

const STATE = { nodeId: '01935b5e-8f3a-7c61-9d0a-000000000001', peers: 1, node: 11 }

test('the tag is a quoted digest of the form, both revisions and the node', () => {
  // printf 'v4|1|11|01935b5e-8f3a-7c61-9d0a-000000000001' | openssl dgst -sha256 -binary | basenc --base64url
  expect(etagOf(STATE)).toBe('"1_faukc4dMrWh4xrgqRMWpZgktEAViPQL99MPnpxSKk"')
  const others = [
    { ...STATE, peers: 2 },
    { ...STATE, node: 12 },
    { ...STATE, peers: 11, node: 1 },
    { ...STATE, nodeId: '01935b5e-8f3a-7c61-9d0a-000000000002' },
  ]
  expect(new Set([STATE, ...others].map(etagOf)).size).toBe(5)
})

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a" , "c"', true],
  ['*', true],
  ['"b"', false],
  ['a', false],
  ['', false],
  ['W/"b", "aa"', false],
])('If-None-Match %s is compared weakly with "a": %s', (ifNoneMatch, named) => {
  expect(isNamed('"a"', ifNoneMatch)).toBe(named)
})
