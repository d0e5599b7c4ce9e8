import { expect, test } from 'vitest'
import { markerErrors } from '../../../../scripts/lib/compat/markers.mjs'
import { deprecationHeaders } from '../../../../src/server/http/deprecations.ts'
import { old, put, sample, type Doc } from './sample.ts'

const SINCE = 'x-service-deprecated-since'
const SUNSET = 'x-service-sunset'

test.each<readonly [string, (doc: Doc) => unknown, string[]]>([
  ['all three markers', () => undefined, []],
  ['no sunset', (d) => delete old(d)[SUNSET], []],
  ['a sunset at the since instant', (d) => (old(d)[SUNSET] = old(d)[SINCE]), []],
  ['no since', (d) => delete old(d)[SINCE], [`GetOld: deprecated without ${SINCE}`]],
  ['no deprecated', (d) => delete old(d).deprecated, [`GetOld: ${SINCE} and ${SUNSET} without deprecated: true`]],
  [
    'deprecated: false',
    (d) => (old(d).deprecated = false),
    [`GetOld: ${SINCE} and ${SUNSET} without deprecated: true`],
  ],
  ['a text for deprecated', (d) => (old(d).deprecated = 'yes'), ['GetOld: deprecated is neither true nor false']],
  ['a stray sunset', (d) => (put(d)[SUNSET] = 'x'), [`PutThing: ${SUNSET} without deprecated: true`]],
  [
    'a day alone',
    (d) => (old(d)[SINCE] = '2026-01-01'),
    ['api deprecations: GetOld: since is not an RFC 3339 instant'],
  ],
  ['a number', (d) => (old(d)[SUNSET] = 1), ['api deprecations: GetOld: sunset is not an RFC 3339 instant']],
  [
    'a sunset before the since instant',
    (d) => (old(d)[SUNSET] = '2025-12-31T23:59:59Z'),
    ['api deprecations: GetOld: the sunset is before the since instant'],
  ],
])('%s', (_, change, errors) => {
  const doc = sample()
  change(doc)
  expect(markerErrors(doc, deprecationHeaders)).toEqual(errors)
})
