import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))

interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

describe('ctl as a process, against its own server', () => {
  let directory: string
  let server: CtlProcess
  let token: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-e2e-cli-'))
    const tokenFile = join(directory, 'token')
    server = await startCtl({
      args: ['--data-dir', join(directory, 'data'), '--bootstrap-token-file', tokenFile],
      limits: 'shipped',
    })
    token = readFileSync(tokenFile, 'utf8')
    expect((await ctl(['login', '--url', server.url, '--with-token'], { stdin: token })).exitCode).toBe(0)
  }, 120_000)
  afterAll(async () => {
    await server.end('SIGTERM')
    rmSync(directory, { recursive: true })
  })

  function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return spawn(process.execPath, [CTL, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Not as npx would start it, whatever started the tests.
      env: { ...process.env, npm_command: '', CTL_CONFIG_DIR: join(directory, 'config'), ...env },
    })
  }

  async function ctl(
    args: readonly string[],
    { stdin = '', env = {} }: { stdin?: string; env?: Readonly<Record<string, string>> } = {},
  ): Promise<Ended> {
    const child = start(args, env)
    child.stdin.end(stdin)
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { exitCode: exitCode as number | null, stdout, stderr }
  }

  it('goes through the life of a Project, a resource and a token', async () => {
    const steps: readonly (readonly [args: readonly string[], exitCode: number])[] = [
      [['whoami'], 0],
      [['projects', 'create', 'shop', '--display-name', 'Shop'], 0],
      [['projects', 'create', 'shop', '--display-name', 'Shop'], 6],
      [['projects', 'create', 'NOT A SLUG', '--display-name', 'x'], 9],
      [['resources', 'create', 'relay', '--kind', 'bridge', '--display-name', 'Relay', '--project', 'shop'], 0],
      [['projects', 'delete', 'shop', '--yes'], 6],
      [['resources', 'delete', 'relay', '--project', 'shop', '--yes'], 0],
      [['projects', 'delete', 'shop', '--yes'], 0],
      [['projects', 'show', 'shop'], 3],
      [['service-identities', 'create', 'build', '--display-name', 'build'], 0],
      [['authz', 'check', 'service:build', 'operate', 'domain:default'], 10],
      [['grants', 'create', 'service:build', 'operator'], 0],
      [['authz', 'check', 'service:build', 'operate', 'domain:default'], 0],
      [['tokens', 'issue', 'deploy', '--for', 'service:build', '--expires-in', '1h'], 0],
      [['tokens', 'revoke', 'deploy', '--for', 'service:build', '--yes'], 0],
      [['audit', 'list', '--relation', 'project.create'], 0],
      [['status'], 0],
      [['doctor'], 0],
    ]
    for (const [args, exitCode] of steps) {
      const ended = await ctl(args)
      expect([args.join(' '), ended.exitCode, ended.stderr]).toEqual([args.join(' '), exitCode, ended.stderr])
    }
  }, 120_000)

  it('says what a token with fewer rights lacks, and how it would get it', async () => {
    await ctl(['service-identities', 'create', 'reader', '--display-name', 'reader'])
    await ctl(['grants', 'create', 'service:reader', 'viewer'])
    const issued = await ctl(['tokens', 'issue', 'r', '--for', 'service:reader', '--jq', '.token'])
    const { exitCode, stderr } = await ctl(['groups', 'create', 'ops', '--display-name', 'Ops'], {
      env: { CTL_URL: server.url, CTL_TOKEN: issued.stdout.trim() },
    })
    expect(exitCode).toBe(5)
    expect(stderr).toMatch(/^error: groups create: serviceaccount:[0-9a-f-]{36} lacks manage on domain:[0-9a-f-]{36}\n/)
    expect(stderr).toMatch(/can grant it: ctl grants create serviceaccount:[0-9a-f-]{36} admin domain:[0-9a-f-]{36}\n/)
    expect(stderr).toMatch(/\ncode=permission_denied status=403 correlation_id=\S+\n$/)
  })

  it('knows an expired or foreign token from being signed out', async () => {
    const foreign = token.trim().replace(/.{6}$/, '000000')
    const { exitCode, stderr } = await ctl(['nodes', 'list'], { env: { CTL_URL: server.url, CTL_TOKEN: foreign } })
    expect(exitCode).toBe(4)
    expect(stderr).toContain('The token from CTL_TOKEN is expired, revoked, disabled, or of another server.')
  })

  it('loads few files for a call, and no schema library, prompt or server', async () => {
    const coverage = join(directory, 'coverage')
    expect((await ctl(['nodes', 'list'], { env: { NODE_V8_COVERAGE: coverage } })).exitCode).toBe(0)
    const urls = readdirSync(coverage).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as { result: { url: string }[] }
      return result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
    })
    expect(urls.some((url) => url.endsWith('/dist/ctl/main.cjs'))).toBe(true)
    expect(urls.filter((url) => url.includes('/dist/ctl/')).length).toBeLessThanOrEqual(6)
    expect(urls.filter((url) => /node_modules|\/dist\/serve\/|\/dist\/shared\/contract\//.test(url))).toEqual([])
  })

  it('ends quietly when its reader has seen enough', async () => {
    const child = start(['audit', 'list', '--all', '-o', 'jsonl'])
    child.stdin.end()
    child.stdout.destroy()
    const [said, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect([said, exitCode]).toEqual(['', 0])
  })

  it.each([['--version'], ['--help'], ['whoami']])(
    'ends with a sentence when its output cannot be written: %s',
    async (word) => {
      const full = openSync('/dev/full', 'w')
      const child = spawn(process.execPath, [CTL, word], {
        stdio: ['ignore', full, 'pipe'],
        env: { ...process.env, CTL_CONFIG_DIR: join(directory, 'config') },
      })
      closeSync(full)
      const [said, [exitCode]] = await Promise.all([text(child.stderr ?? process.stdin), once(child, 'close')])
      expect([said, exitCode]).toEqual(['error: the output cannot be written (ENOSPC)\n', 1])
    },
  )

  it('prints its version to a reader that is gone, and works with all streams closed', async () => {
    const child = start(['--version'])
    child.stdout.destroy()
    const [said, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect([said, exitCode]).toEqual(['', 0])
    const closed = spawn('sh', ['-c', '"$0" "$1" whoami <&- >&- 2>&-', process.execPath, CTL], {
      env: { ...process.env, CTL_CONFIG_DIR: join(directory, 'config') },
    })
    expect((await once(closed, 'close'))[0]).toBe(0)
  })

  it('stops at Ctrl-C with 130', async () => {
    const child = start(['whoami', '--watch=10s'])
    child.stdin.end()
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const [exitCode] = (await once(child, 'close')) as [number | null]
    expect(exitCode).toBe(130)
  })

  it('prints its version', async () => {
    const { version } = JSON.parse(
      readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
    ) as { version: string }
    expect((await ctl(['--version'])).stdout).toBe(`ctl ${version}\n`)
  })
})
