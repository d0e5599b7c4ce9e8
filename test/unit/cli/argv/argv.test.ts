import { describe, expect, it } from 'vitest'
import { parseArguments } from '../../../../src/cli/argv/argv.ts'
import { CliError } from '../../../../src/cli/errors/cli-error.ts'
import type { FlagSpecs } from '../../../../src/cli/argv/flags.ts'

const SPECS: FlagSpecs = {
  name: { kind: 'text', short: 'n', describe: '' },
  yes: { kind: 'switch', short: 'y', describe: '' },
  quiet: { kind: 'switch', short: 'q', describe: '' },
  limit: { kind: 'integer', describe: '' },
  ttl: { kind: 'duration', describe: '' },
  scopes: { kind: 'list', describe: '' },
  field: { kind: 'many', describe: '' },
  state: { kind: 'text', choices: ['healthy', 'stale'], describe: '' },
  watch: { kind: 'optional', describe: '' },
}

describe('Arguments', () => {
  it.each([
    [['--name', 'a'], { name: 'a' }],
    [['--name=a=b'], { name: 'a=b' }],
    [['-n', 'a'], { name: 'a' }],
    [['-na'], { name: 'a' }],
    [['-yqn', 'a'], { yes: true, quiet: true, name: 'a' }],
    [['--no-yes'], { yes: false }],
    [['--yes=false'], { yes: false }],
    [['--limit', '-3'], { limit: -3 }],
    [['--name', '-x'], { name: '-x' }],
    [['--ttl', '1h30m'], { ttl: 5400 }],
    [['--ttl', '90d'], { ttl: 7_776_000 }],
    [['--ttl', '45'], { ttl: 45 }],
    [['--scopes', 'a,b', '--scopes', 'c'], { scopes: ['a', 'b', 'c'] }],
    [['--field', 'a=1,2', '--field', 'b=3'], { field: ['a=1,2', 'b=3'] }],
    [['--watch'], { watch: '' }],
    [['--watch=5s'], { watch: '5s' }],
    [['--name', 'a', '--name', 'b'], { name: 'b' }],
  ])('reads %j', (args, flags) => {
    expect(parseArguments(args, SPECS)).toEqual({ flags, positionals: [] })
  })

  it.each([
    [
      ['a', '--yes', 'b'],
      ['a', 'b'],
    ],
    [['-'], ['-']],
    [
      ['a', '--', '--name', '-y'],
      ['a', '--name', '-y'],
    ],
    [['--watch', '5s'], ['5s']],
  ])('leaves the positionals of %j', (args, positionals) => {
    expect(parseArguments(args, SPECS).positionals).toEqual(positionals)
  })

  it.each([
    [['--nam', 'a'], 'unknown flag --nam'],
    [['--curl'], 'this command does not take --curl'],
    [['-x'], 'unknown flag -x'],
    [['--no-name'], 'unknown flag --no-name'],
    [['--__proto__', 'a'], 'unknown flag --__proto__'],
    [['--constructor', 'a'], 'unknown flag --constructor'],
    [['--name'], '--name needs a value'],
    [['--name', '--yes'], '--name needs a value'],
    [['--yes=maybe'], '--yes takes no value'],
    [['--limit', '0x10'], '--limit needs a whole number, not "0x10"'],
    [['--limit', '1e2'], '--limit needs a whole number, not "1e2"'],
    [['--ttl', '1y'], '--ttl needs a duration such as 30s, 15m, 12h or 90d, not "1y"'],
    [['--state', 'fine'], '--state must be one of healthy, stale, not "fine"'],
  ])('refuses %j: %s', (args, message) => {
    const refusal = (): unknown => parseArguments(args, SPECS)
    expect(refusal).toThrow(CliError)
    expect(refusal).toThrow(message)
  })
})
