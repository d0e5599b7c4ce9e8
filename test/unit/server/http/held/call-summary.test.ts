import { expect, it } from 'vitest'
import { z } from 'zod'
import { contract } from '../../../../../src/shared/contract/index.ts'
import { heldFor } from '../../../../../src/shared/contract/held-calls.ts'
import { jsonSchemaOf } from '../../../../../src/shared/contract/json-schema.ts'
import type { Operation } from '../../../../../src/shared/contract/operation.ts'
import { summaryOf } from '../../../../../src/server/http/held/call-summary.ts'

const granting = z.strictObject({ subject: z.string(), relation: z.string(), resource: z.string().optional() })

const isHeld = ([, { dualControl }]: readonly [string, Operation]): boolean => dualControl !== undefined

const operation = {
  summary: 'Grant a role on a Domain',
  body: z.strictObject({
    subject: z.string(),
    scopes: z.array(z.string()).optional(),
    client_secret: z.string().optional().meta({ writeOnly: true }),
    nested: z.array(z.object({ name: z.string(), key: z.string().meta({ writeOnly: true }) })).optional(),
  }),
}

it.each([
  ['of nothing but the operation', {}, {}, 'Grant a role on a Domain.'],
  [
    'with the members of its path and body',
    { id: 'd-1' },
    { subject: 'user:u-1', scopes: ['a', 'b'] },
    'Grant a role on a Domain: id d-1, subject user:u-1, scopes ["a","b"]',
  ],
  [
    'with references to what is named by an id',
    { domain_id: 'd-1' },
    { subject: 'user:u-1' },
    'Grant a role on a Domain: domain_id domain:d-1, subject user:u-1',
  ],
  [
    'without a secret',
    {},
    { subject: 'user:u-1', client_secret: 's3cret' },
    'Grant a role on a Domain: subject user:u-1, client_secret (hidden)',
  ],
  [
    'without a secret inside a list',
    {},
    { nested: [{ name: 'n', key: 's3cret' }] },
    'Grant a role on a Domain: nested [{"name":"n","key":"(hidden)"}]',
  ],
])('sums a call up %s', (_case, path, body, summary) => {
  expect(summaryOf(operation, { path, query: {}, body, object: 'user:u-1' })).toBe(summary)
})

it('clips a long member and a long summary', () => {
  const long = summaryOf(operation, { path: { id: 'x'.repeat(500) }, query: {}, object: 'user:u-1' })
  expect(long).toBe(`Grant a role on a Domain: id ${'x'.repeat(399)}…`)
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`m${index}`, 'y'.repeat(300)]))
  expect(summaryOf(operation, { path: many, query: {}, object: 'user:u-1' })).toHaveLength(2000)
})

it('is the sentence of the operation, with the members that the sentence does not have', () => {
  const dualControl = heldFor('Make {body.subject} {body.relation} of domain:{path.id}', 'access.admin')
  const sum = (body: Readonly<Record<string, unknown>>) =>
    summaryOf(
      { summary: 'Grant a role on a Domain', dualControl, body: granting },
      { path: { id: 'd-1' }, query: {}, body, object: 'user:u-1' },
    )
  expect(sum({ subject: 'user:u-1', relation: 'admin' })).toBe('Make user:u-1 admin of domain:d-1.')
  expect(sum({ subject: 'user:u-1', relation: 'admin', resource: 'node:n-1' })).toBe(
    'Make user:u-1 admin of domain:d-1: resource node:n-1',
  )
  const object = {
    sentence: 'Change how {held.object} signs in',
    actions: ['access.takeover'],
    runs: 'server',
  } as const
  expect(summaryOf({ summary: '', dualControl: object }, { path: {}, query: {}, object: 'user:u-1' })).toBe(
    'Change how user:u-1 signs in.',
  )
})

it.each(
  Object.values(contract)
    .flatMap(({ operations }) => Object.entries<Operation>(operations))
    .filter(isHeld),
)('%s: its sentence names only members that every call has', (_id, { dualControl, params, query, body }) => {
  const sources = { path: params, query, body }
  for (const [, source, member] of (dualControl?.sentence ?? '').matchAll(/\{(\w+)\.(\w+)\}/g)) {
    if (source === 'held') expect(member).toBe('object')
    else {
      const schema = sources[source as keyof typeof sources]
      const required = schema === undefined ? [] : (jsonSchemaOf(schema, 'input').required ?? [])
      expect(required).toContain(member)
    }
  }
  expect(dualControl?.sentence).toMatch(/^[A-Z].*[^.]$/)
})
