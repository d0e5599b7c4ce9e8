import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome } from '../../../support/cli/cli-run.ts'

interface Shown {
  readonly key: string
  readonly value: unknown
  readonly origin: string
}

describe('Settings', () => {
  let home: CliHome
  beforeEach(async () => {
    home = createCliHome()
    await home.run(['contexts', 'add', 'one', '--url', 'https://one.example', '--domain', 'first', '--project', 'web'])
    await home.run(['contexts', 'add', 'two', '--url', 'https://two.example', '--protected'])
  })
  afterEach(() => home.remove())

  async function shown(
    key: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<unknown[]> {
    const { stdout, exitCode } = await home.run(['config', 'view', '--show-origin', '-o', 'json', ...argv], { env })
    expect(exitCode).toBe(0)
    const row = (JSON.parse(stdout) as Shown[]).find((one) => one.key === key)
    return [row?.value, row?.origin]
  }

  it('come from the flag before the environment, the project file, the context and the default', async () => {
    const configPath = join(home.home, '.config/ctl/config.json')
    const projectFile = join(home.home, '.ctl.yaml')
    expect(await shown('context', [], {})).toEqual(['one', configPath])
    writeFileSync(projectFile, 'context: two\n')
    expect(await shown('context', [], {})).toEqual(['two', projectFile])
    expect(await shown('context', [], { CTL_CONTEXT: 'one' })).toEqual(['one', 'CTL_CONTEXT'])
    expect(await shown('context', ['--context', 'two'], { CTL_CONTEXT: 'one' })).toEqual(['two', '--context'])
  })

  it.each([
    ['url', [], {}, ['https://one.example', 'context one']],
    ['url', [], { CTL_URL: 'http://env' }, ['http://env', 'CTL_URL']],
    ['url', ['--url', 'http://flag'], { CTL_URL: 'http://env' }, ['http://flag', '--url']],
    ['url', ['--context', 'two'], {}, ['https://two.example', 'context two']],
    ['domain', [], {}, ['first', 'context one']],
    ['domain', [], { CTL_DOMAIN: 'other' }, ['other', 'CTL_DOMAIN']],
    ['domain', ['--context', 'two'], {}, [null, 'default']],
    ['timeout', [], {}, ['30s', 'default']],
    ['timeout', [], { CTL_TIMEOUT: '2m' }, ['120s', 'CTL_TIMEOUT']],
    ['timeout', ['--timeout', '5s'], { CTL_TIMEOUT: '2m' }, ['5s', '--timeout']],
    ['protected', ['--context', 'two'], {}, ['true', 'context two']],
    ['token', [], { CTL_TOKEN: 'opaque' }, ['(set)', 'CTL_TOKEN']],
  ] as const)('give %s with %j and %j', async (key, argv, env, expected) => {
    expect(await shown(key, argv, env)).toEqual(expected)
  })

  it('never take what a context trusts along to another server', async () => {
    const ca = join(home.home, 'ca.pem')
    await home.run(['contexts', 'add', 'mine', '--url', 'https://mine.example', '--ca-file', ca])
    const mine = ['--context', 'mine'] as const
    expect(await shown('ca_file', mine, {})).toEqual([ca, 'context mine'])
    expect(await shown('ca_file', [...mine, '--url', 'https://mine.example/'], {})).toEqual([ca, 'context mine'])
    expect(await shown('ca_file', [...mine, '--url', 'https://other.example'], {})).toEqual([null, 'default'])
    expect(await shown('ca_file', mine, { CTL_URL: 'https://other.example' })).toEqual([null, 'default'])
    const said = [...mine, '--url', 'https://other.example', '--ca-file', '/other.pem']
    expect(await shown('ca_file', said, {})).toEqual(['/other.pem', '--ca-file'])
    const [token] = await shown('token', [...mine, '--url', 'https://other.example'], {})
    expect(token).toBeNull()
  })

  it('find the project file in a directory above', async () => {
    writeFileSync(join(home.home, '.ctl.yaml'), 'domain: above\n')
    mkdirSync(join(home.home, 'a/b'), { recursive: true })
    expect((await shown('domain', [], {}))[0]).toBe('above')
  })

  it.each([
    ['url: https://evil.example', 'may not name a url'],
    ['token: x', 'may not name a token'],
    ['contxt: one', 'has an unknown key "contxt"'],
    ['- one', 'must be a mapping'],
    ['context: [1]', 'context must be a text'],
    ['{', 'is not valid YAML'],
  ])('refuse the project file %j', async (text, reason) => {
    writeFileSync(join(home.home, '.ctl.yaml'), text)
    const { exitCode, stderr } = await home.run(['config', 'view'])
    expect(stderr).toContain(reason)
    expect(exitCode).toBe(2)
  })

  it.each([
    [['--context', 'thre'], {}, 'there is no context "thre" (from --context)'],
    [[], { CTL_CONTEXT: 'x' }, 'there is no context "x" (from CTL_CONTEXT)'],
    [[], { CTL_OUTPUT: 'xml' }, 'CTL_OUTPUT must be one of'],
    [[], { CTL_TIMEOUT: 'soon' }, 'CTL_TIMEOUT needs a duration'],
    [['--timeout', '0'], {}, '--timeout needs a duration'],
    [[], { CTL_TOKEN_FILE: '/nowhere/token' }, 'CTL_TOKEN_FILE names /nowhere/token, which cannot be read'],
  ])('refuse %j with %j', async (argv, env, reason) => {
    const { exitCode, stderr } = await home.run(['config', 'view', ...argv], { env })
    expect(stderr).toContain(reason)
    expect(exitCode).toBe(2)
  })
})
