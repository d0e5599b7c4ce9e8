import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCliHome, type CliHome } from '../../support/cli/cli-run.ts'

describe('A noun without a verb', () => {
  let home: CliHome
  beforeEach(() => {
    home = createCliHome()
  })
  afterEach(() => home.remove())

  test.each([
    [['sessions', '--url', 'http://127.0.0.1:1']],
    [['--url', 'http://127.0.0.1:1', 'sessions']],
    [['sessions', '--url=http://127.0.0.1:1', '-o', 'json']],
  ])('shows what there is, also beside flags of its verbs: %j', async (argv) => {
    const { exitCode, stdout } = await home.run(argv)
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('revoke')])
  })

  test.each([
    [['users', 'list'], 'It belongs to another noun: ctl admin users --help'],
    [['user', 'add', 'ana'], 'It belongs to another noun: ctl admin users --help'],
    [['nsk'], 'It belongs to another noun: ctl nodes nsk --help'],
    [['sesions', '--url', 'http://127.0.0.1:1'], 'Did you mean: ctl sessions'],
    [['sessions', 'lst', '--url', 'http://127.0.0.1:1'], 'Did you mean: ctl sessions list'],
    [['list', '--url', 'http://127.0.0.1:1', 'sessions'], 'The noun comes first: ctl sessions list'],
    [['nonsense'], 'See what there is: ctl --help'],
  ])('that does not exist is an error that leads on: %j', async (argv, hint) => {
    const { exitCode, stderr } = await home.run(argv)
    expect([exitCode, stderr.split('\n')[1]]).toEqual([2, hint])
  })
})
