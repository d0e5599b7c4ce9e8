import { describe, expect, test } from 'vitest'
import { judgeMarkers } from '../../../../scripts/lib/compat/markers.mjs'
import { deprecationHeaders } from '../../../../src/server/http/deprecations.ts'
import { old, put, sample, sampleEvents, sent, thing, type Doc } from './sample.ts'

const SINCE = 'x-service-deprecated-since'
const SUNSET = 'x-service-sunset'
const SUCCESSOR = 'x-service-successor'
const NOW = Date.parse('2026-06-01T00:00:00Z')

function judged(change: (openapi: Doc, events: Doc) => unknown): { errors: string[]; warnings: string[] } {
  const [openapi, events] = [sample(), sampleEvents()]
  change(openapi, events)
  return judgeMarkers({ openapi, events }, { check: deprecationHeaders, nowMs: NOW })
}

type Row = readonly [title: string, change: (doc: Doc) => unknown, found: string[]]

describe('An operation', () => {
  test.each<Row>([
    ['with all markers', () => undefined, []],
    ['without a sunset', (d) => delete old(d)[SUNSET], []],
    ['without a since', (d) => delete old(d)[SINCE], [`GetOld: deprecated without ${SINCE}`]],
    ['without a successor', (d) => delete old(d)[SUCCESSOR], [`GetOld: deprecated without ${SUCCESSOR}`]],
    [
      'without deprecated',
      (d) => delete old(d).deprecated,
      [`GetOld: ${SINCE} and ${SUNSET} and ${SUCCESSOR} without deprecated: true`],
    ],
    [
      'with deprecated: false',
      (d) => (old(d).deprecated = false),
      [`GetOld: ${SINCE} and ${SUNSET} and ${SUCCESSOR} without deprecated: true`],
    ],
    [
      'with a text for deprecated',
      (d) => (old(d).deprecated = 'yes'),
      ['GetOld: deprecated is neither true nor false'],
    ],
    ['with a stray sunset', (d) => (put(d)[SUNSET] = 'x'), [`PutThing: ${SUNSET} without deprecated: true`]],
    ['with a stray successor', (d) => (put(d)[SUCCESSOR] = 'x'), [`PutThing: ${SUCCESSOR} without deprecated: true`]],
    [
      'with a day for its since',
      (d) => (old(d)[SINCE] = '2026-01-01'),
      ['api deprecations: GetOld: since is not an RFC 3339 instant'],
    ],
    [
      'with a number for its sunset',
      (d) => (old(d)[SUNSET] = 1),
      ['api deprecations: GetOld: sunset is not an RFC 3339 instant'],
    ],
    [
      'with a sunset before its since',
      (d) => (old(d)[SUNSET] = '2025-12-31T23:59:59Z'),
      ['api deprecations: GetOld: the sunset is before the since instant'],
    ],
    [
      'with a successor that is no call',
      (d) => (old(d)[SUCCESSOR] = 'PutThing'),
      ['api deprecations: GetOld: the successor is not a method and a path'],
    ],
    [
      'with a successor that is not there',
      (d) => (old(d)[SUCCESSOR] = 'GET /v1/new'),
      ['GetOld: there is no successor GET /v1/new'],
    ],
    ['with a successor of another major', (d) => (old(d)[SUCCESSOR] = 'GET /v2/new'), []],
    ['with itself for a successor', (d) => (old(d)[SUCCESSOR] = 'GET /v1/old'), ['GetOld: it is its own successor']],
    ['with an empty successor', (d) => (old(d)[SUCCESSOR] = ' '), [`GetOld: ${SUCCESSOR} names nothing`]],
  ])('%s', (_title, change, errors) => {
    expect(judged(change).errors).toEqual(errors)
  })

  test.each<Row>([
    ['a sunset of twelve months later', () => undefined, []],
    ['no sunset', (d) => delete old(d)[SUNSET], []],
    [
      'a sunset of less than twelve months later',
      (d) => (old(d)[SUNSET] = '2026-12-31T23:59:59Z'),
      ['GetOld: its sunset is less than 12 months after its since'],
    ],
    [
      'a sunset that has passed',
      (d) => {
        old(d)[SINCE] = '2025-01-01T00:00:00Z'
        old(d)[SUNSET] = '2026-06-01T00:00:00Z'
      },
      ['GetOld: its sunset has passed; nothing changes for callers until it is removed'],
    ],
    [
      'a successor that is deprecated',
      (d) =>
        Object.assign(put(d), { deprecated: true, [SINCE]: '2026-01-01T00:00:00Z', [SUCCESSOR]: 'GET /v2/things' }),
      ['GetOld: its successor PUT /v1/things/{id} is deprecated, too'],
    ],
  ])('with %s is a warning at most', (_title, change, warnings) => {
    expect(judged(change)).toEqual({ errors: [], warnings })
  })
})

const MARKS = {
  deprecated: true,
  [SINCE]: '2026-01-01T00:00:00Z',
  [SUNSET]: '2027-01-01T00:00:00Z',
  [SUCCESSOR]: 'place',
}

describe('A member', () => {
  const places: readonly (readonly [place: string, find: (openapi: Doc, events: Doc) => Doc])[] = [
    ['Thing.note', (d) => thing(d).properties.note],
    ['PutThing body.slug', (d) => sent(d).properties.slug],
    ['PutThing body.labels.*', (d) => sent(d).properties.labels.additionalProperties],
    ['PutThing query limit', (d) => put(d).parameters[1]],
    ['PutThing 200 Location', (d) => put(d).responses[200].headers.Location.schema],
    ['event thing_changed.parts[].size', (_, e) => e.events.thing_changed.properties.parts.items.properties.size],
    ['format sealed.text', (_, e) => e.formats.sealed.schema.properties.text],
  ]

  test.each(places)('%s may be deprecated with all markers', (_place, find) => {
    expect(judged((d, e) => Object.assign(find(d, e), MARKS))).toEqual({ errors: [], warnings: [] })
  })

  test.each(places)('%s is held to the rules', (place, find) => {
    const errorsOf = (markers: Doc): string[] => judged((d, e) => Object.assign(find(d, e), markers)).errors
    expect(errorsOf({ deprecated: true })).toEqual([
      `${place}: deprecated without ${SINCE}`,
      `${place}: deprecated without ${SUCCESSOR}`,
    ])
    expect(errorsOf({ [SINCE]: MARKS[SINCE] })).toEqual([`${place}: ${SINCE} without deprecated: true`])
    expect(errorsOf({ ...MARKS, [SINCE]: '2026-01-01' })).toEqual([
      `api deprecations: ${place}: since is not an RFC 3339 instant`,
    ])
    expect(errorsOf({ ...MARKS, [SUNSET]: '2025-01-01T00:00:00Z' })).toEqual([
      `api deprecations: ${place}: the sunset is before the since instant`,
    ])
  })

  test('a member that is called deprecated is no marker, and neither is an example', () => {
    const verdict = judged((d) => {
      thing(d).properties.deprecated = { type: 'boolean' }
      thing(d).examples = [{ deprecated: 'yes', properties: { deprecated: 'yes' } }]
      sent(d).default = { deprecated: 'yes' }
    })
    expect(verdict).toEqual({ errors: [], warnings: [] })
  })
})
