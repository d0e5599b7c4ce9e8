import { describe, expect, test, vi } from 'vitest'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

// What takes the square of a text's length, or doubles with its depth, takes far longer.
vi.setConfig({ testTimeout: 60_000 })

const SCHEMA = `definition user {}
definition doc {
  relation reader: user | doc#reader
  permission read = reader
}`

const indented = (text: string): string => text.replaceAll(/^/gm, '  ')

const fileOf = (schema: string, relationships: readonly string[], assertions: readonly string[]): string => `schema: |-
${indented(schema)}
relationships: |-
${indented(relationships.join('\n'))}
assertions:
  assertTrue:
${assertions.map((one) => `    - '${one}'`).join('\n')}
`

/** A file with one tuple under a caveat. */
const caveatFile = (expression: string, parameters: string, context: string): string =>
  fileOf(
    `caveat cond(${parameters}) {
  ${expression}
}
definition user {}
definition doc {
  relation reader: user with cond
}`,
    [`doc:x#reader@user:y[cond:${context}]`],
    ['doc:x#reader@user:y'],
  )

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

const caveat = (expression: string): string => `caveat cond(x int) {\n  ${expression}\n}\n${SCHEMA}`

/** Two ways to each level: 2^30 ways to the last. */
const doubling = Array.from({ length: 30 }, (_, at) =>
  ['a', 'b'].flatMap((from) => ['a', 'b'].map((to) => `doc:${from}${at}#reader@doc:${to}${at + 1}#reader`)),
).flat()

const laughs = Array.from('bcdefghijklmnop', (name, at) => {
  const before = 'abcdefghijklmno'.charAt(at)
  return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`
})

const ROWS: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  ['a schema of parentheses', `definition doc { permission read = ${'('.repeat(500_000)}`, /at most 64 nested/],
  ['a schema of a name of megabytes', `definition ${'a'.repeat(3_000_000)} {}`, /expected a name of 3 to 64/],
  ['a schema of megabytes', `${SCHEMA}${' '.repeat(5_000_000)}`, /at most 4194304 characters/],
  ['a schema of a comment without its end', '/* a'.repeat(300_000), /expected "\*\/" to end this comment/],
  ['blank lines before nothing', '\n'.repeat(300_000), /All hold/],
  ['types within types', `caveat cond(x ${'list<'.repeat(50_000)}`, /nested at most 32 deep/],
  ['an expression of megabytes', caveat(`${'x == 1 && '.repeat(300_000)} true`), /at most 100000 characters/],
  ['brackets within brackets', caveat(`${'('.repeat(40_000)}x`), /at most 64 nested brackets/],
  ['conditions within conditions', caveat('x == 1 ? true : '.repeat(6_000)), /expected an expression/],
  ['members of members', caveat(`x${'.a'.repeat(49_000)} == 1`), /expected an expression that is nested less deeply/],
  [
    'macros within macros',
    caveatFile(
      `${Array.from({ length: 8 }, (_, at) => `x.all(v${at}, `).join('')}true${')'.repeat(8)}`,
      'x list<int>',
      `{"x":[${Array(1000).fill(1).join(',')}]}`,
    ),
    /expected granted, found conditional/,
  ],
  [
    'a list that doubles eighteen times',
    caveatFile(
      `${Array.from({ length: 18 }, (_, at) => `x.map(v${at}, `).join('')}x${')'.repeat(18)}.size() == 1`,
      'x list<int>',
      '{"x":[1,1,1]}',
    ),
    /expected granted, found conditional/,
  ],
  [
    'a pattern whose repetitions fill the memory',
    caveatFile('x.matches(y)', 'x string, y string', `{"x":"a","y":"${'(?i:[[:word:]]|\\\\pL){1,900}'.repeat(600)}"}`),
    /expected granted, found conditional/,
  ],
  [
    'a pattern that makes other engines go back for ever',
    caveatFile('x.matches("(a+)+b")', 'x string', `{"x":"${'a'.repeat(20_000)}"}`),
    /expected granted, found denied/,
  ],
  [
    'a number of digits and a letter',
    caveatFile('x > 1.0', 'x double', `{"x":"${'1'.repeat(400_000)}x"}`),
    /expected a value of the type double for "x"/,
  ],
  ['a number of zeros and a one', caveatFile('x > 1', 'x int', `{"x":"1${'0'.repeat(400_000)}1"}`), /All hold/],
  [
    'a context that is nested a hundred thousand deep',
    caveatFile('x.size() == 0', 'x list<any>', `{"x":${deep(100_000)}}`),
    /nested at most 100 deep for "x", found a value that is nested more deeply/,
  ],
  [
    'bytes put together beyond what an expression may make',
    caveatFile('(x + x).size() == 1', 'x bytes', `{"x":"${'AAAA'.repeat(45_000)}"}`),
    /expected granted, found conditional/,
  ],
  [
    'groups with a thousand million ways',
    fileOf(SCHEMA, [...doubling, 'doc:a30#reader@user:y'], ['doc:a0#read@user:y', 'doc:a0#read@user:nobody']),
    /doc:a0#read@user:nobody: expected granted, found denied/,
  ],
  ['a group of itself', fileOf(SCHEMA, ['doc:a#reader@doc:a#reader'], ['doc:a#read@user:y']), /found denied|itself/],
  [
    'a billion laughs',
    ['a: &a ["lol"]', ...laughs, 'schema: "definition user {}"', 'relationships: *p', ''].join('\n'),
    /expected relationships, one a line, found a list/,
  ],
  ['an alias of what it is in', 'schema: "definition user {}"\nvalidation: &x\n  ? *x\n  : *x\n', /expected /],
  ['YAML of brackets', `schema: ${'['.repeat(300_000)}`, /nested at most 64 deep/],
  [
    'YAML of ever deeper lines',
    Array.from({ length: 3_000 }, (_, at) => `${' '.repeat(at)}schema:`).join('\n'),
    /nested at most 64 deep/,
  ],
  ['a key a hundred thousand times', `schema: x\n${'a: 1\n'.repeat(100_000)}`, /expected "a" once, found it again/],
  ['a hundred thousand documents', `schema: x\n${'---\n'.repeat(100_000)}`, /expected/],
]

describe('ctl authz validate', () => {
  const cli = useStubbedCli()

  test.each(ROWS)('answers %s soon, and in a few sentences', async (_, text, says) => {
    const { exitCode, stdout, stderr } = await cli.home.run(['authz', 'validate', '-f', '-'], { stdin: text })
    const said = stdout + stderr
    expect(said.slice(0, 4_000)).toMatch(says)
    expect(said).not.toContain('fault in ctl')
    expect([0, 10]).toContain(exitCode)
    expect(said.length).toBeLessThan(16_000)
  })

  test.each(['/dev/zero', '/dev/tty', '.'])('does not read the schema file %s, which is none', async (path) => {
    const up = '../'.repeat(20)
    const schemaFile = path === '.' ? path : `${up}${path.slice(1)}`
    const { exitCode, stdout } = await cli.home.run(['authz', 'validate', '-f', '-'], {
      stdin: `schemaFile: ${schemaFile}\n`,
    })
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('is no file')])
  })
})
