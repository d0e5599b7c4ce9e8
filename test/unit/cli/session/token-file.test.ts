import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCliHome, type CliHome } from '../../../support/cli/cli-run.ts'
import { startStub, type StubServer } from '../../../support/cli/stub-server.ts'

describe.skipIf(process.platform === 'win32')('A file with a token', () => {
  let home: CliHome
  let stub: StubServer
  let file: string
  beforeEach(async () => {
    home = createCliHome()
    file = join(home.home, 'token')
    const me = { body: { subject: 'user:1', display_name: 'Ana', kind: 'user' } }
    stub = await startStub({
      'GET /v1/auth/whoami': me,
      'GET /v1/auth/tokens': { body: [] },
      'GET /v1/auth/sessions': { body: [] },
    })
    writeFileSync(file, 'opaque\n')
  })
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  const warnings = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('warning:'))

  test('that has more in it than one token is refused', async () => {
    writeFileSync(file, 'opaque\nother\n')
    const { exitCode, stderr } = await home.run(['whoami', '--token-file', file, '--url', stub.url])
    expect([exitCode, stub.seen]).toEqual([2, []])
    expect(stderr).toContain(`--token-file names ${file}, which has more in it than one token`)
  })

  test.each([
    ['--token-file', ['whoami', '--token-file']],
    ['login --token-file', ['login', '--token-file']],
  ])('that everybody on the machine can read is complained of, once, and used: %s', async (_, words) => {
    chmodSync(file, 0o644)
    const { exitCode, stderr } = await home.run([...words, file, '--url', stub.url])
    expect([exitCode, stub.seen[0]?.headers.authorization]).toEqual([0, 'Bearer opaque'])
    expect(warnings(stderr)).toEqual([
      `warning: every user of this machine can read the token in ${file}: chmod 600 ${file}`,
    ])
  })

  test('is complained of in CTL_TOKEN_FILE too, and with --quiet', async () => {
    chmodSync(file, 0o604)
    const { stderr } = await home.run(['whoami', '--quiet', '--url', stub.url], { env: { CTL_TOKEN_FILE: file } })
    expect(warnings(stderr)).toHaveLength(1)
  })

  test.each([0o600, 0o400, 0o640])('of mode %o is used without a word', async (mode) => {
    chmodSync(file, mode)
    const { exitCode, stderr } = await home.run(['whoami', '--token-file', file, '--url', stub.url])
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  test('that is no file of anybody is used without a word', async () => {
    const { exitCode, stderr } = await home.run(['whoami', '--token-file', '/dev/null', '--url', stub.url])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--token-file names /dev/null, which is empty')])
    expect(warnings(stderr)).toEqual([])
  })

  test('that cannot be read is an error that names it', async () => {
    const { exitCode, stderr } = await home.run(['whoami', '--token-file', `${file}x`, '--url', stub.url])
    expect([exitCode, stub.seen]).toEqual([2, []])
    expect(stderr).toContain(`--token-file names ${file}x, which cannot be read`)
  })
})
