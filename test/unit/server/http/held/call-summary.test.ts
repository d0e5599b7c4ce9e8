import { expect, it } from 'vitest'
import { z } from 'zod'
import { summaryOf } from '../../../../../src/server/http/held/call-summary.ts'

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
  ['of nothing but the operation', {}, {}, 'Grant a role on a Domain'],
  [
    'with the members of its path and body',
    { id: 'd-1' },
    { subject: 'user:u-1', scopes: ['a', 'b'] },
    'Grant a role on a Domain: id d-1, subject user:u-1, scopes ["a","b"]',
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
  expect(summaryOf(operation, { path, query: {}, body })).toBe(summary)
})

it('clips a long member and a long summary', () => {
  const long = summaryOf(operation, { path: { id: 'x'.repeat(500) }, query: {} })
  expect(long).toBe(`Grant a role on a Domain: id ${'x'.repeat(399)}…`)
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`m${index}`, 'y'.repeat(300)]))
  expect(summaryOf(operation, { path: many, query: {} })).toHaveLength(2000)
})
