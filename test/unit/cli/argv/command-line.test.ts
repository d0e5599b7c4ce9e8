import { describe, expect, it } from 'vitest'
import { readCommandLine } from '../../../../src/cli/argv/command-line.ts'
import { defineCommand, type Command } from '../../../../src/cli/argv/command.ts'
import type { FlagSpecs } from '../../../../src/cli/argv/flags.ts'
import { growTree } from '../../../../src/cli/argv/tree.ts'
import { manifest } from '../../../support/cli/cli-run.ts'

const SPECS: FlagSpecs = {
  name: { kind: 'text', short: 'n', describe: '' },
  yes: { kind: 'switch', short: 'y', describe: '' },
  quiet: { kind: 'switch', short: 'q', describe: '' },
  limit: { kind: 'integer', describe: '' },
  ttl: { kind: 'duration', describe: '' },
  scopes: { kind: 'list', describe: '' },
  field: { kind: 'many', describe: '' },
  state: { kind: 'text', choices: ['healthy', 'stale'], describe: '' },
}

const NOTHING = { run: async () => undefined }
const args = [{ name: 'thing', describe: '', many: true }]

const COMMANDS: Readonly<Record<string, Command>> = {
  'things list': defineCommand({ ...NOTHING, flags: SPECS, args, uses: ['output', 'watch'] }),
  'things turn': defineCommand({ ...NOTHING, flags: SPECS, args, uses: ['output'] }),
  'things turn back': defineCommand({ ...NOTHING, uses: ['output'] }),
  'things write': defineCommand({ ...NOTHING, flags: { output: { kind: 'text', describe: '' } } }),
  run: defineCommand({ ...NOTHING, raw: true }),
}
const loaded: string[] = []
const root = growTree(
  Object.entries(COMMANDS).map(([words, command]) => ({
    words,
    summary: '',
    load: async () => {
      loaded.push(words)
      return command
    },
  })),
)

const read = (...argv: readonly string[]) => readCommandLine(argv, root, manifest)

describe('The flags of a command', () => {
  it.each([
    [['--name', 'a'], { name: 'a' }],
    [['--name=a=b'], { name: 'a=b' }],
    [['--name='], { name: '' }],
    [['--name=--yes', '--yes'], { name: '--yes', yes: true }],
    [['-n', 'a'], { name: 'a' }],
    [['-na'], { name: 'a' }],
    [['-n=a'], { name: 'a' }],
    [['-yqn', 'a'], { yes: true, quiet: true, name: 'a' }],
    [['--no-yes'], { yes: false }],
    [['--yes=false'], { yes: false }],
    [['--yes=true'], { yes: true }],
    [['--no-input'], { 'no-input': true }],
    [['--no-input=false'], { 'no-input': false }],
    [['--limit', '-3'], { limit: -3 }],
    [['--name', '-x'], { name: '-x' }],
    [['--name', '-w'], { name: '-w' }],
    [['--name', '-n=a'], { name: '-n=a' }],
    [['--ttl', '1h30m'], { ttl: 5400 }],
    [['--ttl', '90d'], { ttl: 7_776_000 }],
    [['--ttl', '45'], { ttl: 45 }],
    [['--scopes', 'a,b', '--scopes', 'c'], { scopes: ['a', 'b', 'c'] }],
    [['--field', 'a=1,2', '--field', 'b=3'], { field: ['a=1,2', 'b=3'] }],
    [['--watch'], { watch: '' }],
    [['--watch=5s'], { watch: '5s' }],
    [['-w'], { watch: '' }],
    [['-qw'], { quiet: true, watch: '' }],
    [['-w5s'], { watch: '5s' }],
    [['--name', 'a', '--name', 'b'], { name: 'b' }],
  ])('are read from %j', async (argv, flags) => {
    expect(await read('things', 'list', ...argv)).toMatchObject({ flags, args: [] })
    expect((await read('things', 'list', ...argv)).flags).toEqual(flags)
  })

  it.each([
    [['--nam', 'a'], 'unknown flag --nam'],
    [['--nam=a'], 'unknown flag --nam'],
    [['--curl'], 'this command does not take --curl'],
    [['-x'], 'unknown flag -x'],
    [['-yx'], 'unknown flag -x'],
    [['a', '-', '-5', '--nam'], 'unknown flag --nam'],
    [['--no-name'], 'unknown flag --no-name'],
    [['--__proto__', 'a'], 'unknown flag --__proto__'],
    [['--constructor', 'a'], 'unknown flag --constructor'],
    [['--name'], '--name needs a value'],
    [['-yn'], '-n needs a value'],
    [['--name', '--yes'], '--name needs a value'],
    [['-n', '--yes'], '-n needs a value'],
    [['--yes=maybe'], '--yes takes no value'],
    [['--limit', '0x10'], '--limit needs a whole number, not "0x10"'],
    [['--limit', '1e2'], '--limit needs a whole number, not "1e2"'],
    [['--ttl', '1y'], '--ttl needs a duration such as 30s, 15m, 12h or 90d, not "1y"'],
    [['--state', 'fine'], '--state must be one of healthy, stale, not "fine"'],
  ])('are refused in %j: %s', async (argv, message) => {
    await expect(read('things', 'list', ...argv)).rejects.toMatchObject({ name: 'CliError', exitCode: 2, message })
  })
})

describe('The arguments of a command', () => {
  it.each([
    [
      ['a', '--yes', 'b'],
      ['a', 'b'],
    ],
    [['-'], ['-']],
    [['-5'], ['-5']],
    [
      ['a', '--', '--name', '-y'],
      ['a', '--name', '-y'],
    ],
    [['--watch', '5s'], ['5s']],
    [['-w', 'a'], ['a']],
  ])('are what remains of %j', async (argv, rest) => {
    expect((await read('things', 'list', ...argv)).args).toEqual(rest)
  })

  it('are counted', async () => {
    await expect(read('things', 'write', 'a')).rejects.toThrow(
      '"ctl things write" takes no arguments, and "a" is one too many',
    )
  })

  it('are all that follows a raw command', async () => {
    expect(await read('run', '-x', '--watch', '--', '--help')).toMatchObject({
      args: ['-x', '--watch', '--', '--help'],
      flags: {},
      asksHelp: false,
    })
    expect(await read('--help', 'run')).toMatchObject({ args: ['--help'], asksHelp: false })
  })
})

describe('The words of a command', () => {
  it('load it and no other', async () => {
    loaded.length = 0
    await read('things', 'list')
    expect(loaded).toEqual(['things list'])
  })

  it.each([
    [['thing', 'list'], 'things list'],
    [['-q', 'things', '--no-input', 'list'], 'things list'],
    [['things', 'turn', 'a', 'back'], 'things turn'],
    [['things', 'turn', '--', 'back'], 'things turn'],
    [['things', 'turn', '--name', 'back'], 'things turn'],
    [['things', 'turn', '-q', 'back'], 'things turn back'],
    [['things'], 'things'],
  ])('are found in %j', async (argv, words) => {
    expect((await read(...argv)).branch.words).toBe(words)
  })

  it.each([
    [['-o', 'json', 'things', 'list'], { output: 'json' }],
    [['-o', 'json', 'things', 'list', '-o', 'yaml'], { output: 'yaml' }],
    [['things', '--watch', 'list'], { watch: '' }],
    [['--columns', 'a', 'things', '--columns', 'b', 'list', '--columns', 'c'], { columns: ['a', 'b', 'c'] }],
    [['things', 'turn', '-o', 'json', 'back'], { output: 'json' }],
    [['--output', 'file.json', 'things', 'write'], { output: 'file.json' }],
  ])('may have shared flags before them: %j', async (argv, flags) => {
    expect((await read(...argv)).flags).toEqual(flags)
  })

  it.each([
    [['--curl', 'things', 'list'], 'this command does not take --curl'],
    [['-q', 'run'], 'this command does not take --quiet'],
    [['--limt', '3', 'things', 'list'], 'unknown flag --limt'],
    [['things', '--foo'], 'unknown flag --foo'],
    [['things', 'lst', '--foo'], 'unknown command "things lst"'],
    [['list', '-o', 'json', 'things'], 'unknown command "list"'],
    [['things', '--', 'lst'], 'unknown command "things lst"'],
  ])('are refused in %j: %s', async (argv, message) => {
    await expect(read(...argv)).rejects.toMatchObject({ name: 'CliError', exitCode: 2, message })
  })

  it.each([
    [['things', 'list', '--limit', 'many', '--help'], 'things list'],
    [['--help', 'things', 'list'], 'things list'],
    [['-o', 'json', 'things', 'turn', 'back', '-h'], 'things turn back'],
    [['things', 'turn', '--help', 'back'], 'things turn back'],
  ])('with --help ask for help, whatever else is wrong: %j', async (argv, words) => {
    expect(await read(...argv)).toMatchObject({ asksHelp: true, branch: { words } })
  })
})
