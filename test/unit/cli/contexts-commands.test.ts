import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContextStore } from '../../../src/cli/session/contexts.ts'
import { createCliHome, type CliHome } from '../../support/cli/cli-run.ts'

describe('Contexts', () => {
  let home: CliHome
  beforeEach(async () => {
    home = createCliHome()
    await home.run(['contexts', 'add', 'one', '--url', 'https://one.example'])
    await home.run(['contexts', 'add', 'two', '--url', 'https://two.example'])
  })
  afterEach(() => home.remove())

  async function current(): Promise<string> {
    const { stdout } = await home.run(['contexts', 'list', '--jq', '.[] | select(.current == "*") | .name'])
    return stdout.trim()
  }

  it('begin with the first that is added, and stay there', async () => {
    expect(await current()).toBe('one')
  })

  it('go to another and back again', async () => {
    await home.run(['contexts', 'use', 'two'])
    expect(await current()).toBe('two')
    await home.run(['contexts', 'previous'])
    expect(await current()).toBe('one')
    await home.run(['contexts', 'previous'])
    expect(await current()).toBe('two')
  })

  it('keep what is current under a new name', async () => {
    await home.run(['contexts', 'rename', 'one', 'uno'])
    expect(await current()).toBe('uno')
  })

  it('are removed several at once, or none of them', async () => {
    const { exitCode } = await home.run(['contexts', 'remove', 'one', 'tow'])
    expect(exitCode).toBe(2)
    expect(await current()).toBe('one')
    await home.run(['contexts', 'remove', 'one', 'two'])
    expect((await home.run(['contexts', 'list', '-o', 'json'])).stdout).toBe('[]\n')
  })

  it('take their token along, and a refused renaming moves none', async () => {
    const store = createContextStore(join(home.home, '.config/ctl'))
    await store.keepToken('one', { url: 'https://one.example', token: 'first' })
    await store.keepToken('two', { url: 'https://two.example', token: 'second' })
    await home.run(['contexts', 'rename', 'one', 'two'])
    expect(await store.token('two', 'https://two.example')).toBe('second')
    await home.run(['contexts', 'rename', 'one', 'uno'])
    expect(await store.token('uno', 'https://one.example')).toBe('first')
    expect(await store.token('one', 'https://one.example')).toBeUndefined()
  })

  it.each([
    [['contexts', 'add', 'one', '--url', 'https://x.example'], 'there is a context "one" already'],
    [['contexts', 'add', '../up', '--url', 'https://x.example'], '"../up" cannot name a context'],
    [['contexts', 'add', '__proto__', '--url', 'https://x.example'], '"__proto__" cannot name a context'],
    [['contexts', 'add', 'x', '--url', 'ftp://x.example'], 'is not an http:, https: or unix: URL'],
    [['contexts', 'add', 'x'], '--url is missing'],
    [['contexts', 'use', 'tow'], 'there is no context "tow"'],
    [['contexts', 'rename', 'one', 'two'], 'there is a context "two" already'],
    [['contexts', 'previous'], 'no other context was used before'],
  ])('refuse %j', async (argv, reason) => {
    const { exitCode, stderr } = await home.run(argv)
    expect(stderr).toContain(reason)
    expect(exitCode).toBe(2)
  })
})
