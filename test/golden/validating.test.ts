import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliOptions } from '../support/cli/cli-run.ts'
import { expectGolden, transcriptOf, words, type Step } from '../support/cli/transcript.ts'

const SCHEMA = `definition user {}

definition group {
  relation member: user | group#member
}

caveat office_hours(hour int) {
  hour >= 8 && hour < 18
}

definition document {
  relation owner: user
  relation viewer: user | group#member | user with office_hours
  relation banned: user
  permission edit = owner
  permission view = (viewer + edit) - banned
}
`

const GOOD = `schemaFile: documents.zed
relationships: |-
  // Who reads the plan.
  document:plan#owner@user:olga
  document:plan#viewer@group:eng#member
  group:eng#member@user:anne
  document:plan#viewer@user:nick[office_hours]
assertions:
  assertTrue:
    - document:plan#view@user:anne
    - 'document:plan#view@user:nick with {"hour": 9}'
  assertCaveated:
    - document:plan#view@user:nick
  assertFalse:
    - document:plan#edit@user:anne
validation:
  document:plan#edit:
    - "[user:olga] is <document:plan#owner>"
`

const WRONG = `schemaFile: documents.zed
relationships: |-
  document:plan#owner@user:olga
  document:plan#viewer@group:eng#member
  group:eng#member@user:anne
  document:plan#viewer@user:nick[office_hours]
  document:plan#viewer@user:eve
  document:plan#banned@user:eve
assertions:
  assertTrue:
    - document:plan#view@user:bob
    - document:plan#view@user:nick
    - 'document:plan#view@user:nick with {"hour": 20}'
    - document:plan#view@user:eve
  assertFalse:
    - document:plan#view@user:anne
    - document:plan#view@usr:anne
validation:
  document:plan#edit:
    - "[user:olga] is <document:plan#viewer>"
    - "[user:anne] is <document:plan#owner>"
  document:plan#owner: []
asertions: {}
`

const FILES: Readonly<Record<string, string>> = {
  'policies/documents.zed': SCHEMA,
  'policies/good.yaml': GOOD,
  'policies/more/inline.yaml': 'schema: definition user {}\n',
  'wrong/documents.zed': SCHEMA,
  'wrong/wrong.yaml': WRONG,
  'broken/schema.yaml': 'schema: |-\n  definition document {\n    relation viewer: user\n  }\n',
  'broken/tuple.yaml':
    'schema: |-\n  definition user {}\n  definition document {\n    relation viewer: user\n  }\nrelationships: |-\n  document:plan#reader@user:anne\n  document:plan#viewer@group:eng\n',
  'broken/yaml.yaml': 'schema: "definition user {}\n',
  'broken/lost.yaml': 'schemaFile: nowhere.zed\n',
  'broken/documents.zed': 'definition user {}\ndefinition document {\n  permission view = viewer\n}\n',
  'empty/notes.txt': 'no policy\n',
}

/** A line with the exit code that it must have, said here so that refreshing the files cannot hide a regression. */
interface Scripted extends CliOptions {
  readonly line: string
  readonly exit: number
}

const SCRIPT: readonly Scripted[] = [
  { line: 'ctl authz validate -f policies/good.yaml', exit: 0 },
  { line: 'ctl authz validate -f policies', exit: 0 },
  { line: "ctl authz validate 'policies/**/*.yaml' policies/documents.zed -q", exit: 0 },
  { line: 'ctl authz validate -f policies/good.yaml -o json', exit: 0 },
  { line: 'ctl authz validate -f -', exit: 0, stdin: `schema: |-\n${SCHEMA.replaceAll(/^/gm, '  ')}` },
  { line: 'ctl authz validate -f wrong/wrong.yaml', exit: 10 },
  { line: 'ctl authz validate -f wrong/wrong.yaml -o json', exit: 10 },
  { line: 'ctl authz validate -f wrong/wrong.yaml -o jsonl -q', exit: 10 },
  { line: 'ctl authz validate -f wrong/wrong.yaml --columns line,message', exit: 10 },
  { line: 'ctl authz validate -f broken/schema.yaml broken/tuple.yaml broken/yaml.yaml', exit: 10 },
  { line: 'ctl authz validate -f broken/documents.zed', exit: 10 },
  { line: 'ctl authz validate -f broken/lost.yaml -f nowhere.yaml -f policies/good.yaml', exit: 1 },
  { line: 'ctl authz validate -f empty', exit: 2 },
  { line: 'ctl authz validate', exit: 2 },
  { line: 'ctl authz validate --help', exit: 0 },
]

describe.each(['tty', 'pipe'] as const)('ctl authz validate on a %s', (where) => {
  let home: CliHome
  beforeEach(() => {
    home = createCliHome()
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(join(home.home, file, '..'), { recursive: true })
      writeFileSync(join(home.home, file), text)
    }
  })
  afterEach(() => home.remove())

  it('speaks as written down', async () => {
    const steps: Step[] = []
    for (const { line, exit, ...options } of SCRIPT) {
      const result = await home.run(words(line), { ...options, isTty: where === 'tty' })
      expect([line, result.exitCode]).toEqual([line, exit])
      steps.push({ line: options.stdin === undefined ? line : `${line} < stdin`, result })
    }
    expectGolden(`validating.${where}`, transcriptOf(steps, { [home.home]: '~' }))
  })

  it('has colours on a terminal only', async () => {
    const argv = ['authz', 'validate', '-f', 'wrong/wrong.yaml']
    const { stdout, exitCode } = await home.run(argv, { isTty: where === 'tty', env: { NO_COLOR: '' } })
    expect([stdout.includes('\u001b['), exitCode]).toEqual([where === 'tty', 10])
  })

  it('refuses what has more than 10 MB, as a file and on stdin', async () => {
    const large = `schema: definition user {}\n#${'x'.repeat(10 * 1024 * 1024)}\n`
    writeFileSync(join(home.home, 'large.yaml'), large)
    const file = await home.run(['authz', 'validate', 'large.yaml'])
    expect([file.stdout, file.exitCode]).toEqual(['large.yaml: has more than 10 MB, which no policy has\n', 1])
    const stdin = await home.run(['authz', 'validate', '-f', '-'], { stdin: large })
    expect([stdin.stdout, stdin.exitCode]).toEqual(['<stdin>: has more than 10 MB, which no policy has\n', 1])
  })

  it('refuses what is not UTF-8', async () => {
    writeFileSync(join(home.home, 'latin.yaml'), Buffer.from('schema: "caf\u00e9"\n', 'latin1'))
    const { stdout, exitCode } = await home.run(['authz', 'validate', 'latin.yaml'])
    expect([stdout, exitCode]).toEqual(['latin.yaml: is not UTF-8 text\n', 1])
  })

  it('fails for warnings when asked to', async () => {
    writeFileSync(join(home.home, 'odd.yaml'), 'schema: definition user {}\nassertion: {}\n')
    expect((await home.run(['authz', 'validate', 'odd.yaml'])).exitCode).toBe(0)
    expect((await home.run(['authz', 'validate', 'odd.yaml', '--fail-on-warn'])).exitCode).toBe(10)
  })
})
