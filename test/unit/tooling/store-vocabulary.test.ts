import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const SERVER = fileURLToPath(new URL('../../../src/server', import.meta.url))

const SOURCES = readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(join(SERVER, file), 'utf8') }))

/** Adapters implement ports; they import no `sql`. */
const STORES = SOURCES.filter(({ file }) => !file.startsWith('adapters/'))

const SLICES = SOURCES.filter(({ file }) => file.startsWith('slices/'))

/** Files of those sources that contain the pattern, each as often as it does. */
function filesWith(pattern: RegExp, sources = SLICES): string[] {
  return sources.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(() => file)).toSorted()
}

describe('A list with pages', () => {
  test('is read by a keyset: nothing else opens the range of a page', () => {
    expect(filesWith(/import .*\bopenRange\b/g, SOURCES)).toEqual(['http/list-page.ts', 'sql/keyset.ts'])
  })

  test('is answered by listPage', () => {
    expect(filesWith(/\.page\([^;]*\bnext\b/g, SOURCES)).toEqual(['http/list-page.ts'])
  })

  test('takes no number of rows: a read that takes one is a batch of a job, or a list without pages', () => {
    expect(filesWith(/\.limit\((?!\d+\)|[A-Z_]+\))/g)).toEqual(
      [
        'audit/chain-store.ts', // Rows and heads of an export, by their numbers in the chain.
        'audit/chain-store.ts',
        'executions/sweep-store.ts',
        'labels/store.ts', // Definitions whose tuples are not written yet.
        'mediated-sessions/sweep-store.ts',
        'nodes/node-store.ts', // Silent ephemeral nodes.
        'rollouts/store.ts', // Rollouts that are under way, for a pass of the job.
        'sessions/store.ts', // The newest live sessions of a person, in both statements.
        'sessions/store.ts',
        'tokens/store.ts', // Tokens of a person: those that work come first where there are too many.
        'tokens/store.ts', // Tokens that no list shows.
        'workloads/store.ts', // Bundles that are due.
      ].map((file) => `slices/${file}`),
    )
  })
})

describe('A unique constraint that refuses a row', () => {
  test('becomes a problem in conflictsAs', () => {
    expect(filesWith(/[!=]== 'unique'/g, STORES)).toEqual(['sql/unique.ts'])
  })

  test('is left out without an error only where the transaction goes on', () => {
    expect(filesWith(/\.doNothing\(\)/g)).toEqual([
      'slices/audit/head-store.ts', // A head that another pass has signed.
      'slices/device-flow/store.ts', // Draws another user code.
      'slices/local-accounts/sign-in-store.ts', // Answers a passkey that is known as one beyond the limit.
      'slices/webhooks/enqueue-store.ts', // What happened is queued once for a webhook.
      'slices/workloads/store.ts', // An assertion that was used before.
    ])
  })
})

describe('A row that must outlive the transaction', () => {
  test.each([
    ['domains', 'sql/hold-domain.ts'],
    ['principals', 'sql/hold-principal.ts'],
    ['projects', 'sql/hold-project.ts'],
  ])('of %s is held by %s', (table, holder) => {
    const held = new RegExp(`selectFrom\\('${table}'\\)(?:(?!\\.execute|selectFrom)[^])*?\\.forKeyShare\\(\\)`, 'g')
    expect(filesWith(held, STORES)).toEqual([holder])
  })
})

describe('A job that deletes rows some time after they are over', () => {
  test('is made by createBatchDelete where one instant decides', () => {
    expect(filesWith(/delete from \w+ where \w+ in \(\s*select \w+ from \w+ where \w+ <=? /g)).toEqual([
      'slices/sessions/store.ts', // Two instants decide, and replicas read again what they hold of each.
      'slices/workloads/store.ts', // An assertion that has just expired is refused for its age already.
    ])
  })
})
