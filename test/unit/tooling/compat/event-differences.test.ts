import { describe, expect, it } from 'vitest'
import { eventDifferences } from '../../../../scripts/lib/compat/event-differences.mjs'
import { sampleEvents, type Doc } from './sample.ts'

const changed = (doc: Doc): Doc => doc.events.thing_changed
const part = (doc: Doc): Doc => changed(doc).properties.parts.items
const sealed = (doc: Doc): Doc => doc.formats.sealed.schema.properties

/** What is changed, how, and what the gate says of it: level, check and words. */
type Row = readonly [title: string, change: (doc: Doc) => unknown, ...findings: string[]]

const PAYLOADS: readonly Row[] = [
  ['a text for people', (d) => (changed(d).description = 'Else')],
  ['a type more', (d) => (d.events.late = {}), 'INFO event-added: event late is new'],
  ['a type less', (d) => delete d.events.thing_gone, 'ERR event-removed: event thing_gone is gone'],
  [
    'another name of a type',
    (d) => {
      d.events.thing_lost = d.events.thing_gone
      delete d.events.thing_gone
    },
    'ERR event-removed: event thing_gone is gone',
    'INFO event-added: event thing_lost is new',
  ],
  [
    'a member more',
    (d) => (changed(d).properties.note = { type: 'string' }),
    'INFO response-property-added: event thing_changed: the member note is new',
  ],
  [
    'a guaranteed member more',
    (d) => {
      part(d).properties.at = { type: 'string' }
      part(d).required.push('at')
    },
    'INFO response-required-property-added: event thing_changed.parts[]: the required member at is new',
  ],
  [
    'a member less',
    (d) => delete part(d).properties.size,
    'ERR response-property-removed: event thing_changed.parts[]: the member size is gone',
  ],
  [
    'another name of a member',
    (d) => {
      part(d).properties.bytes = part(d).properties.size
      delete part(d).properties.size
    },
    'ERR response-property-removed: event thing_changed.parts[]: the member size is gone',
    'INFO response-property-added: event thing_changed.parts[]: the member bytes is new',
  ],
  [
    'a member that is no longer guaranteed',
    (d) => (part(d).required = []),
    'ERR response-property-became-optional: event thing_changed.parts[]: the member name became optional',
  ],
  [
    'a member that is guaranteed from now on',
    (d) => part(d).required.push('size'),
    'INFO response-property-became-required: event thing_changed.parts[]: the member size became required',
  ],
  [
    'another type of a member',
    (d) => (part(d).properties.size.type = 'string'),
    'ERR response-type-changed: event thing_changed.parts[].size: type integer became string',
  ],
  [
    'a member that may be null',
    (d) => (part(d).properties.size.type = ['integer', 'null']),
    'ERR response-type-widened: event thing_changed.parts[].size: type integer became integer or null',
  ],
  [
    'a value more',
    (d) => changed(d).properties.reason.enum.push('late'),
    'INFO response-enum-value-added: event thing_changed.reason: the value "late" is new',
  ],
  [
    'a value less',
    (d) => changed(d).properties.reason.enum.pop(),
    'ERR response-enum-value-removed: event thing_changed.reason: the value "resync" is gone',
  ],
  [
    'a word more in an open list',
    (d) => changed(d).properties.blocks.items.anyOf[0].enum.push('c'),
    'INFO response-enum-value-added: event thing_changed.blocks[]: the value "c" is new',
  ],
  [
    'a word less in an open list',
    (d) => changed(d).properties.blocks.items.anyOf[0].enum.shift(),
    'ERR response-enum-value-removed: event thing_changed.blocks[]: the value "a" is gone',
  ],
  [
    'another stream',
    (d) => (d.operation = 'GET /v1/things/{id}/stream'),
    'ERR event-moved: event thing_changed moved from GET /v1/things/{id}/events to GET /v1/things/{id}/stream',
    'ERR event-moved: event thing_gone moved from GET /v1/things/{id}/events to GET /v1/things/{id}/stream',
  ],
]

const FORMATS: readonly Row[] = [
  ['a text for people', (d) => (d.formats.sealed.summary = 'Else')],
  [
    'a format more',
    (d) => (d.formats.late = { operation: 'GET /v1/late', schema: {} }),
    'INFO node-format-added: format late is new',
  ],
  ['a format less', (d) => delete d.formats.sealed, 'ERR node-format-removed: format sealed is gone'],
  [
    'another operation',
    (d) => (d.formats.sealed.operation = 'GET /v1/elsewhere'),
    'ERR node-format-moved: format sealed moved from GET /v1/things/{id}/key to GET /v1/elsewhere',
  ],
  [
    'another constant',
    (d) => (sealed(d).bytes.const = 61),
    'ERR response-enum-value-removed: format sealed.bytes: the value 60 is gone',
    'INFO response-enum-value-added: format sealed.bytes: the value 61 is new',
  ],
  [
    'a constant that is any value from now on',
    (d) => delete sealed(d).layout.const,
    'ERR node-format-loosened: format sealed.layout: its list of values is gone',
  ],
  [
    'another pattern',
    (d) => (sealed(d).text.pattern = '^[a-z]+$'),
    'ERR node-format-loosened: format sealed.text: pattern ^[a-z]$ became ^[a-z]+$',
  ],
  [
    'no pattern',
    (d) => delete sealed(d).text.pattern,
    'ERR node-format-loosened: format sealed.text: pattern ^[a-z]$ is gone',
  ],
  [
    'a member more',
    (d) => (sealed(d).more = { const: 1 }),
    'INFO response-property-added: format sealed: the member more is new',
  ],
]

describe.each([
  ['payloads', PAYLOADS],
  ['formats', FORMATS],
])('In %s', (_kind, rows) => {
  const named = rows.map(([title, change, ...words]) => ({ title, change, words }))
  it.each(named)('$title', ({ change, words }) => {
    const next = sampleEvents()
    change(next)
    const found = eventDifferences({ base: sampleEvents(), next })
    expect(found.map(({ level, id, detail }) => `${level} ${id}: ${detail}`)).toEqual(words)
  })
})

it('a finding is at the operation that delivers what changed, as exceptions name it', () => {
  const next = sampleEvents()
  delete next.events.thing_gone
  delete next.formats.sealed
  expect(eventDifferences({ base: sampleEvents(), next })).toMatchObject([
    { method: 'GET', path: '/v1/things/{id}/events', id: 'event-removed' },
    { method: 'GET', path: '/v1/things/{id}/key', id: 'node-format-removed' },
  ])
})
