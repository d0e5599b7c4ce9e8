import { describe, expect, it, test } from 'vitest'
import { CHECKS } from '../../../../scripts/lib/compat/checks.mjs'
import { differences } from '../../../../scripts/lib/compat/differences.mjs'
import { old, put, sample, sent, thing, type Doc } from './sample.ts'

/** What is changed, how, and what the gate says of it: level, check and words. */
type Row = readonly [title: string, change: (doc: Doc) => unknown, ...findings: string[]]

const OPERATIONS: readonly Row[] = [
  ['a text for people', (d) => (put(d).summary = 'Else')],
  [
    'an operation more',
    (d) => (d.paths['/v1/new'] = { get: { operationId: 'GetNew' } }),
    'INFO operation-added: GetNew is new',
  ],
  ['an operation less', (d) => delete d.paths['/v1/old'], 'ERR operation-removed: GetOld is gone'],
  ['another operation id', (d) => (put(d).operationId = 'SetThing'), 'ERR operation-renamed: PutThing became SetThing'],
  [
    'another path segment',
    (d) => rename(d, '/v1/old', '/v1/older'),
    'ERR operation-removed: GetOld is gone',
    'INFO operation-added: GetOld is new',
  ],
  [
    'another name of a path member',
    (d) => {
      put(d).parameters[0].name = 'thing_id'
      rename(d, '/v1/things/{id}', '/v1/things/{thing_id}')
    },
    'WARN path-parameter-renamed: /v1/things/{id} became /v1/things/{thing_id}',
  ],
  ['another server', (d) => (d.servers = [{ url: '/api' }]), 'WARN servers-changed: servers changed'],
  ['a deprecation', (d) => (put(d).deprecated = true), 'INFO deprecation-added: it is deprecated from now on'],
  [
    'a deprecation taken back',
    (d) => (delete old(d).deprecated, delete old(d)['x-service-sunset']),
    'INFO deprecation-removed: it is no longer deprecated',
    'INFO sunset-later: its sunset 2027-01-01T00:00:00Z became none',
  ],
  [
    'a first sunset',
    (d) => (put(d)['x-service-sunset'] = '2027-01-01T00:00:00Z'),
    'INFO sunset-added: its sunset none became 2027-01-01T00:00:00Z',
  ],
  [
    'an earlier sunset',
    (d) => (old(d)['x-service-sunset'] = '2026-06-01T00:00:00Z'),
    'WARN sunset-earlier: its sunset 2027-01-01T00:00:00Z became 2026-06-01T00:00:00Z',
  ],
  [
    'a later sunset',
    (d) => (old(d)['x-service-sunset'] = '2028-01-01T00:00:00Z'),
    'INFO sunset-later: its sunset 2027-01-01T00:00:00Z became 2028-01-01T00:00:00Z',
  ],
  ['a credential more', (d) => put(d).security.push({ session: [] }), 'INFO credential-added: session is taken, too'],
  ['a credential less', (d) => put(d).security.pop(), 'ERR credential-removed: nodeSecretKey is no longer taken'],
  [
    'a credential presented otherwise',
    (d) => (d.components.securitySchemes.apiToken = { type: 'apiKey', in: 'header', name: 'X-Token' }),
    'ERR credential-changed: apiToken is presented in another way',
  ],
  ['a credential described otherwise', (d) => (d.components.securitySchemes.apiToken.bearerFormat = 'x')],
  [
    'a credential where none was',
    (d) => (old(d).security = [{ apiToken: [] }]),
    'ERR credential-demanded: open before, it takes apiToken',
  ],
  [
    'no credential any more',
    (d) => (put(d).security = []),
    'WARN credential-no-longer-demanded: it is open from now on',
  ],
  [
    'another scope',
    (d) => (put(d)['x-service-scope'] = 'all:write'),
    'ERR scope-changed: the scope things:write became all:write',
  ],
  [
    'another gate',
    (d) => (put(d)['x-service-gate'].anyOf[0].relation = 'own'),
    'WARN gate-changed: the gate {"anyOf":[{"object":"thing:{path.id}","relation":"manage"}]} became {"anyOf":[{"object":"thing:{path.id}","relation":"own"}]}',
  ],
  ['another reason for an open gate', (d) => (old(d)['x-service-gate'].open = 'still')],
]

const REQUESTS: readonly Row[] = [
  [
    'an optional query member',
    (d) => put(d).parameters.push({ name: 'q', in: 'query', schema: {} }),
    'INFO parameter-added: the query parameter q is new',
  ],
  [
    'a required query member',
    (d) => put(d).parameters.push({ name: 'q', in: 'query', required: true, schema: {} }),
    'ERR required-parameter-added: the required query parameter q is new',
  ],
  ['a query member less', (d) => put(d).parameters.pop(), 'ERR parameter-removed: the query parameter limit is gone'],
  [
    'a query member that became required',
    (d) => (put(d).parameters[1].required = true),
    'ERR parameter-became-required: the query parameter limit became required',
  ],
  [
    'a lower maximum of a query member',
    (d) => (put(d).parameters[1].schema.maximum = 100),
    'ERR request-bound-tightened: query parameter limit: maximum 200 became 100',
  ],
  [
    'another default of a query member',
    (d) => (put(d).parameters[1].schema.default = 20),
    'WARN request-default-changed: query parameter limit: default 50 became 20',
  ],
  [
    'another spelling of a query member',
    (d) => (put(d).parameters[1].style = 'spaceDelimited'),
    'ERR parameter-changed: the query parameter limit is spelt in another way',
  ],
  ['a body where none was', (d) => (old(d).requestBody = { content: {} }), 'INFO request-body-added: it takes a body'],
  [
    'a required body where none was',
    (d) => (old(d).requestBody = { required: true, content: {} }),
    'ERR required-request-body-added: it takes a body',
  ],
  ['no body any more', (d) => delete put(d).requestBody, 'ERR request-body-removed: it no longer takes a body'],
  [
    'an optional body',
    (d) => (put(d).requestBody.required = false),
    'INFO request-body-became-optional: the body became optional',
  ],
  [
    'a lower cap',
    (d) => (put(d)['x-service-body-bytes-max'] = 4096),
    'ERR request-body-cap-lowered: the cap of 8192 bytes became 4096',
  ],
  [
    'a higher cap',
    (d) => (put(d)['x-service-body-bytes-max'] = 9000),
    'INFO request-body-cap-raised: the cap of 8192 bytes became 9000',
  ],
  [
    'another media type of the body',
    (d) => {
      put(d).requestBody.content = { 'application/yaml': put(d).requestBody.content['application/json'] }
    },
    'ERR request-media-type-removed: request body: application/json is gone',
    'INFO request-media-type-added: request body: application/yaml is new',
  ],
  [
    'an optional field',
    (d) => (sent(d).properties.more = {}),
    body('INFO', 'property-added', ': the member more is new'),
  ],
  [
    'a required field',
    (d) => (sent(d).required.push('more'), (sent(d).properties.more = {})),
    body('ERR', 'required-property-added', ': the required member more is new'),
  ],
  ['a field less', (d) => delete sent(d).properties.kind, body('ERR', 'property-removed', ': the member kind is gone')],
  [
    'a field that became required',
    (d) => sent(d).required.push('kind'),
    body('ERR', 'property-became-required', ': the member kind became required'),
  ],
  [
    'a field that became optional',
    (d) => (sent(d).required = []),
    body('INFO', 'property-became-optional', ': the member slug became optional'),
  ],
  [
    'another type',
    (d) => (sent(d).properties.size.type = 'string'),
    body('ERR', 'type-changed', '.size: type integer became string'),
  ],
  [
    'a wider type',
    (d) => (sent(d).properties.size.type = 'number'),
    body('INFO', 'type-widened', '.size: type integer became number'),
  ],
  [
    'a field that may no longer be null',
    (d) => (sent(d).properties.at = { type: 'string', format: 'date-time' }),
    body('ERR', 'type-narrowed', '.at: type string or null became string'),
  ],
  [
    'a value more',
    (d) => sent(d).properties.kind.enum.push('c'),
    body('INFO', 'enum-value-added', '.kind: the value "c" is new'),
  ],
  [
    'a value less',
    (d) => sent(d).properties.kind.enum.pop(),
    body('ERR', 'enum-value-removed', '.kind: the value "b" is gone'),
  ],
  [
    'a list of values',
    (d) => (sent(d).properties.slug.enum = ['x']),
    body('ERR', 'enum-introduced', '.slug: only "x" from now on'),
  ],
  [
    'a tighter length',
    (d) => (sent(d).properties.slug.maxLength = 40),
    body('ERR', 'bound-tightened', '.slug: maxLength 63 became 40'),
  ],
  [
    'a looser length',
    (d) => (sent(d).properties.slug.minLength = 0),
    body('INFO', 'bound-loosened', '.slug: minLength 1 became 0'),
  ],
  [
    'a first bound',
    (d) => (sent(d).properties.size.minimum = 1),
    body('ERR', 'bound-tightened', '.size: minimum none became 1'),
  ],
  [
    'another pattern',
    (d) => (sent(d).properties.slug.pattern = '^x$'),
    body('ERR', 'pattern-changed', '.slug: pattern ^[a-z]+$ became ^x$'),
  ],
  [
    'no pattern any more',
    (d) => delete sent(d).properties.slug.pattern,
    body('INFO', 'pattern-dropped', '.slug: pattern ^[a-z]+$ is gone'),
  ],
  [
    'a format',
    (d) => (sent(d).properties.slug.format = 'hostname'),
    body('ERR', 'format-introduced', '.slug: format hostname from now on'),
  ],
  [
    'unknown members allowed',
    (d) => delete sent(d).additionalProperties,
    body('INFO', 'unknown-members-allowed', ': members that it does not know are allowed'),
  ],
  [
    'a tighter value of a map',
    (d) => (sent(d).properties.labels.additionalProperties.maxLength = 5),
    body('ERR', 'bound-tightened', '.labels.*: maxLength 9 became 5'),
  ],
  [
    'fewer items',
    (d) => (sent(d).properties.parts.maxItems = 2),
    body('ERR', 'bound-tightened', '.parts: maxItems 4 became 2'),
  ],
  [
    'a keyword that no rule speaks for',
    (d) => (sent(d).properties.parts.uniqueItems = true),
    body('ERR', 'keyword-changed', '.parts: uniqueItems changed'),
  ],
  [
    'a member that one alternative requires, beside members',
    (d) => (sent(d).anyOf[1].required = ['kind', 'size']),
    body('ERR', 'property-became-required', ': the member size became required'),
  ],
  [
    'a tighter member beside alternatives',
    (d) => (sent(d).properties.slug.maxLength = 40),
    body('ERR', 'bound-tightened', '.slug: maxLength 63 became 40'),
  ],
  [
    'no alternatives any more',
    (d) => delete sent(d).anyOf,
    body('INFO', 'schema-dropped', ': it need no longer be one of alternatives'),
  ],
  [
    'alternatives where only one was',
    (d) => (sent(d).properties.size = { oneOf: [{ type: 'integer', default: 1 }, { type: 'boolean' }] }),
    body('INFO', 'alternative-added', '.size: a new alternative: {"type":"boolean"}'),
  ],
  ['a text of a field', (d) => (sent(d).properties.slug.description = 'Else')],
]

const RESPONSES: readonly Row[] = [
  ['a field', (d) => (thing(d).properties.more = {}), answer('INFO', 'property-added', ': the member more is new')],
  [
    'a field less',
    (d) => delete thing(d).properties.note,
    answer('ERR', 'property-removed', ': the member note is gone'),
  ],
  [
    'a field that became optional',
    (d) => thing(d).required.pop(),
    answer('ERR', 'property-became-optional', ': the member state became optional'),
  ],
  [
    'a field that became required',
    (d) => thing(d).required.push('note'),
    answer('INFO', 'property-became-required', ': the member note became required'),
  ],
  [
    'a value more',
    (d) => thing(d).properties.state.enum.push('lost'),
    answer('INFO', 'enum-value-added', '.state: the value "lost" is new'),
  ],
  [
    'a value less',
    (d) => thing(d).properties.state.enum.pop(),
    answer('ERR', 'enum-value-removed', '.state: the value "down" is gone'),
  ],
  [
    'a field that may be null',
    (d) => (thing(d).properties.id.type = ['string', 'null']),
    answer('ERR', 'type-widened', '.id: type string became string or null'),
  ],
  [
    'another type',
    (d) => (thing(d).properties.id = { type: 'integer', maxLength: 36 }),
    answer('ERR', 'type-changed', '.id: type string became integer'),
  ],
  [
    'another format',
    (d) => (thing(d).properties.note.format = 'uri'),
    answer('ERR', 'format-changed', '.note: format uuid became uri'),
  ],
  [
    'a looser length',
    (d) => (thing(d).properties.id.maxLength = 64),
    answer('WARN', 'bound-loosened', '.id: maxLength 36 became 64'),
  ],
  [
    'a tighter length',
    (d) => (thing(d).properties.id.maxLength = 30),
    answer('INFO', 'bound-tightened', '.id: maxLength 36 became 30'),
  ],
  [
    'an alternative more',
    (d) => thing(d).properties.place.oneOf.push({ type: 'integer' }),
    answer('ERR', 'alternative-added', '.place: a new alternative: {"type":"integer"}'),
  ],
  [
    'an alternative less',
    (d) => thing(d).properties.place.oneOf.pop(),
    answer('WARN', 'alternative-removed', '.place: no longer one of its alternatives: Part'),
  ],
  [
    'another success status',
    (d) => {
      put(d).responses[201] = put(d).responses[200]
      delete put(d).responses[200]
    },
    'ERR success-status-removed: 200 is gone',
    'ERR success-status-added: 201 is new',
  ],
  [
    'a call that may be held for approval',
    (d) => {
      put(d).responses[202] = { description: 'Held' }
      put(d)['x-service-dual-control'] = 'things.write'
    },
    'INFO held-answer-added: 202 is new: a call may be held for approval',
  ],
  [
    'the status of a held call, without dual control',
    (d) => (put(d).responses[202] = { description: 'Accepted' }),
    'ERR success-status-added: 202 is new',
  ],
  [
    'dual control with another status than that of a held call',
    (d) => {
      put(d).responses[201] = { description: 'Created' }
      put(d)['x-service-dual-control'] = 'things.write'
    },
    'ERR success-status-added: 201 is new',
  ],
  [
    'another media type',
    (d) => (put(d).responses[200].content = { 'text/plain': { schema: {} } }),
    'ERR response-media-type-removed: response 200: application/json is gone',
    'INFO response-media-type-added: response 200: text/plain is new',
  ],
  [
    'a header more',
    (d) => (put(d).responses[200].headers.ETag = {}),
    'INFO response-header-added: response 200: the header ETag is new',
  ],
  [
    'a header less',
    (d) => (put(d).responses[200].headers = {}),
    'ERR response-header-removed: response 200: the header Location is gone',
  ],
  ['a header spelt otherwise', (d) => (put(d).responses[200].headers = { location: { schema: { type: 'string' } } })],
  [
    'a problem more',
    (d) => (put(d).responses[429] = { content: put(d).responses[409].content, 'x-service-codes': ['rate_limited'] }),
    'INFO problem-status-added: 429 is new',
    'INFO problem-code-added: rate_limited is answered with 429',
  ],
  [
    'another shape of a problem',
    (d) => {
      const content = put(d).responses[409].content['application/problem+json']
      content.schema = { oneOf: [content.schema, { $ref: '#/components/schemas/Problem' }] }
    },
    'INFO problem-shape-added: response 409 application/problem+json: a new alternative: Problem',
    'INFO problem-shape-added: response default application/problem+json: a new alternative: Problem',
  ],
  [
    'a refusal that is no problem document',
    (d) => (put(d).responses[429] = { content: { 'text/plain': {} } }),
    'ERR problem-document-lost: 429 is new and no problem document',
  ],
  [
    'a problem that is none any more',
    (d) => (put(d).responses[409].content = { 'text/plain': {} }),
    'ERR problem-document-lost: response 409 is no problem document any more',
  ],
  [
    'a code less',
    (d) => put(d).responses[409]['x-service-codes'].pop(),
    'WARN problem-code-removed: thing_locked is no longer answered',
  ],
  [
    'a code with another status',
    (d) =>
      (put(d).responses[423] = {
        content: put(d).responses[409].content,
        'x-service-codes': put(d).responses[409]['x-service-codes'].splice(1),
      }),
    'ERR problem-code-moved: thing_locked moved from 409 to 423',
    'INFO problem-status-added: 423 is new',
  ],
  [
    'a status of problems less',
    (d) => delete put(d).responses[409],
    'WARN problem-status-removed: 409 is gone',
    'WARN problem-code-removed: slug_conflict is no longer answered',
    'WARN problem-code-removed: thing_locked is no longer answered',
  ],
  [
    'a member of the problem document less',
    (d) => delete d.components.schemas.Problem.properties.code,
    'ERR response-property-removed: response 409 application/problem+json: the member code is gone',
    'ERR response-property-removed: response default application/problem+json: the member code is gone',
  ],
]

function body(level: string, id: string, words: string): string {
  return `${level} request-${id}: request body application/json${words}`
}

function answer(level: string, id: string, words: string): string {
  return `${level} response-${id}: response 200 application/json${words}`
}

function rename(doc: Doc, from: string, to: string): void {
  doc.paths[to] = doc.paths[from]
  delete doc.paths[from]
}

function said(base: Doc, next: Doc): string[] {
  return differences({ base, next }).map(({ level, id, detail }) => `${level} ${id}: ${detail}`)
}

describe.each([
  ['operations', OPERATIONS],
  ['what clients send', REQUESTS],
  ['what clients are answered', RESPONSES],
])('in %s', (_, rows) => {
  const named = rows.map(([title, change, ...findings]) => ({ title, change, findings }))
  it.each(named)('$title', ({ change, findings }) => {
    const next = sample()
    change(next)
    expect(said(sample(), next)).toEqual(findings)
  })
})

test('equal documents do not differ, schemas that contain themselves included', () => {
  expect(said(sample(), sample())).toEqual([])
})

test('the order of members and alternatives, and naming a schema or not, mean nothing', () => {
  const next = sample()
  thing(next).properties = Object.fromEntries(Object.entries(thing(next).properties).toReversed())
  thing(next).properties.place.oneOf.reverse()
  sent(next).properties.parts.items = next.components.schemas.Part
  expect(said(sample(), next)).toEqual([])
})

test('a member named like one of every object is a member like others', () => {
  const next = sample()
  thing(next).properties.constructor = { type: 'string' }
  expect(said(sample(), next)).toEqual([answer('INFO', 'property-added', ': the member constructor is new')])
  expect(said(next, sample())).toEqual([answer('ERR', 'property-removed', ': the member constructor is gone')])
})

test('a finding names its operation', () => {
  const next = sample()
  delete next.paths['/v1/old']
  expect(differences({ base: sample(), next })).toEqual([
    { id: 'operation-removed', level: 'ERR', method: 'GET', path: '/v1/old', detail: 'GetOld is gone' },
  ])
})

test.each([
  ['leads nowhere', { $ref: '#/components/schemas/None' }, '#/components/schemas/None leads nowhere in the document'],
  ['leads to itself', { $ref: '#/components/schemas/Part' }, '#/components/schemas/Part refers to itself'],
])('a reference that %s is an error', (_, schema, message) => {
  const next = sample()
  next.components.schemas.Part = schema
  expect(() => differences({ base: sample(), next })).toThrow(message)
})

test('every check has one of the three levels', () => {
  expect(new Set(Object.values(CHECKS))).toEqual(new Set(['ERR', 'WARN', 'INFO']))
})
