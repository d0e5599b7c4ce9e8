import { readdirSync, readFileSync } from 'node:fs'
      'slices/rollouts/store.ts',
import { join } from 'node:path'
      'slices/rollouts/store.ts',
import { fileURLToPath } from 'node:url'
      'slices/rollouts/store.ts',
import { describe, expect, test } from 'vitest'
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
const SERVER = fileURLToPath(new URL('../../../src/server', import.meta.url))
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
const SOURCES = readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
      'slices/rollouts/store.ts',
  .filter((file) => file.endsWith('.ts'))
      'slices/rollouts/store.ts',
  .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(join(SERVER, file), 'utf8') }))
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
/** Adapters implement ports; they import no `sql`. */
      'slices/rollouts/store.ts',
const STORES = SOURCES.filter(({ file }) => !file.startsWith('adapters/'))
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
const SLICES = SOURCES.filter(({ file }) => file.startsWith('slices/'))
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
/** Files of those sources that contain the pattern, each as often as it does. */
      'slices/rollouts/store.ts',
function filesWith(pattern: RegExp, sources = SLICES): string[] {
      'slices/rollouts/store.ts',
  return sources.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(() => file)).toSorted()
      'slices/rollouts/store.ts',
}
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
describe('A list with pages', () => {
      'slices/rollouts/store.ts',
  test('is read by a keyset: nothing else opens the range of a page', () => {
      'slices/rollouts/store.ts',
    expect(filesWith(/import .*\bopenRange\b/g, SOURCES)).toEqual(['http/list-page.ts', 'sql/keyset.ts'])
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
  test('is answered by listPage', () => {
      'slices/rollouts/store.ts',
    expect(filesWith(/\.page\([^;]*\bnext\b/g, SOURCES)).toEqual(['http/list-page.ts'])
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
  test('takes no number of rows: a read that takes one is a batch of a job, or a list without pages', () => {
      'slices/rollouts/store.ts',
    expect(filesWith(/\.limit\((?!\d+\)|[A-Z_]+\))/g)).toEqual(
      'slices/rollouts/store.ts',
      [
      'slices/rollouts/store.ts',
        'audit/chain-store.ts', // Rows and heads of an export, by their numbers in the chain.
      'slices/rollouts/store.ts',
        'audit/chain-store.ts',
      'slices/rollouts/store.ts',
        'executions/sweep-store.ts',
      'slices/rollouts/store.ts',
        'labels/store.ts', // Definitions whose tuples are not written yet.
      'slices/rollouts/store.ts',
        'mediated-sessions/sweep-store.ts',
      'slices/rollouts/store.ts',
        'nodes/node-store.ts', // Silent ephemeral nodes.
      'slices/rollouts/store.ts',
        'sessions/store.ts', // The newest live sessions of a person, in both statements.
      'slices/rollouts/store.ts',
        'sessions/store.ts',
      'slices/rollouts/store.ts',
        'tokens/store.ts', // Tokens of a person: those that work come first where there are too many.
      'slices/rollouts/store.ts',
        'tokens/store.ts', // Tokens that no list shows.
      'slices/rollouts/store.ts',
        'workloads/store.ts', // Bundles that are due.
      'slices/rollouts/store.ts',
      ].map((file) => `slices/${file}`),
      'slices/rollouts/store.ts',
    )
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',
})
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
describe('A unique constraint that refuses a row', () => {
      'slices/rollouts/store.ts',
  test('becomes a problem in conflictsAs', () => {
      'slices/rollouts/store.ts',
    expect(filesWith(/[!=]== 'unique'/g, STORES)).toEqual(['sql/unique.ts'])
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
  test('is left out without an error only where the transaction goes on', () => {
      'slices/rollouts/store.ts',
    expect(filesWith(/\.doNothing\(\)/g)).toEqual([
      'slices/rollouts/store.ts',
      'slices/audit/head-store.ts', // A head that another pass has signed.
      'slices/rollouts/store.ts',
      'slices/device-flow/store.ts', // Draws another user code.
      'slices/rollouts/store.ts',
      'slices/local-accounts/sign-in-store.ts', // Answers a passkey that is known as one beyond the limit.
      'slices/rollouts/store.ts',
      'slices/workloads/store.ts', // An assertion that was used before.
      'slices/rollouts/store.ts',
    ])
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',
})
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
describe('A row that must outlive the transaction', () => {
      'slices/rollouts/store.ts',
  test.each([
      'slices/rollouts/store.ts',
    ['domains', 'sql/hold-domain.ts'],
      'slices/rollouts/store.ts',
    ['principals', 'sql/hold-principal.ts'],
      'slices/rollouts/store.ts',
    ['projects', 'sql/hold-project.ts'],
      'slices/rollouts/store.ts',
  ])('of %s is held by %s', (table, holder) => {
      'slices/rollouts/store.ts',
    const held = new RegExp(`selectFrom\\('${table}'\\)(?:(?!\\.execute|selectFrom)[^])*?\\.forKeyShare\\(\\)`, 'g')
      'slices/rollouts/store.ts',
    expect(filesWith(held, STORES)).toEqual([holder])
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',
})
      'slices/rollouts/store.ts',

      'slices/rollouts/store.ts',
describe('A job that deletes rows some time after they are over', () => {
      'slices/rollouts/store.ts',
  test('is made by createBatchDelete where one instant decides', () => {
      'slices/rollouts/store.ts',
    expect(filesWith(/delete from \w+ where \w+ in \(\s*select \w+ from \w+ where \w+ <=? /g)).toEqual([
      'slices/rollouts/store.ts',
      'slices/sessions/store.ts', // Two instants decide, and replicas read again what they hold of each.
      'slices/rollouts/store.ts',
      'slices/workloads/store.ts', // An assertion that has just expired is refused for its age already.
      'slices/rollouts/store.ts',
    ])
      'slices/rollouts/store.ts',
  })
      'slices/rollouts/store.ts',
})
      'slices/rollouts/store.ts',
