import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { missingProgram } from '../../../../../src/cli/agent/system/missing-program.ts'
import { runProgram } from '../../../../../src/cli/agent/system/run-program.ts'

describe('programs that the agent runs', () => {
  it('read their input as standard input and as /dev/stdin, which has no name anywhere', async () => {
    const input = randomBytes(200_000).toString('base64')
    expect(await runProgram('cat', [], { stdin: input })).toEqual({ stdout: input, stderr: '', exitCode: 0 })
    expect((await runProgram('cat', ['/dev/stdin'], { stdin: Buffer.from('key') })).stdout).toBe('key')
    // Another process of this machine may have one that is about to lose its name.
    await vi.waitFor(() => expect(readdirSync('/dev/shm').filter((name) => name.startsWith('ctl-stdin-'))).toEqual([]))
  })

  it('have an environment without variables of the caller', async () => {
    process.env['CTL_TEST_LEAK'] = '1'
    const { stdout } = await runProgram('env', []).finally(() => delete process.env['CTL_TEST_LEAK'])
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'LC_ALL=C',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ])
  })

  it.each([
    [['-c', 'echo no >&2; exit 3'], { stdout: '', stderr: 'no\n', exitCode: 3 }],
    [['-c', 'kill -9 $$'], { stdout: '', stderr: '', exitCode: 137 }],
  ])('report their exit status: %j', async (args, result) => {
    expect(await runProgram('sh', args)).toEqual(result)
  })

  it('are killed after their deadline, with their children', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-run-'))
    const script = `sleep 600 & echo $! >${folder}/child; wait`
    await expect(runProgram('sh', ['-c', script], { timeoutMs: 300 })).rejects.toMatchObject({
      message: 'sh did not end within 0.3 s and was killed.',
      code: 'program_killed',
      exitCode: 1,
    })
    const child = readFileSync(join(folder, 'child'), 'utf8').trim()
    await vi.waitFor(() => expect(stateOf(child)).toMatch(/^[ZX]?$/))
    rmSync(folder, { recursive: true })
  })

  it('are killed when they print without an end', async () => {
    await expect(runProgram('cat', ['/dev/zero'])).rejects.toMatchObject({
      message: 'cat printed more than 16 MiB and was killed.',
    })
  })

  it('are named where they are missing', async () => {
    await expect(runProgram('program-that-is-missing', [])).rejects.toMatchObject({
      message: 'program-that-is-missing is not installed.',
      code: 'program_missing',
      exitCode: 1,
    })
  })

  it.each([
    ['ip', 'iproute2'],
    ['wg', 'wireguard-tools'],
    ['wireguard-go', 'wireguard-go'],
    ['nft', 'nftables'],
  ])('are missing with their Debian package: %s', (program, debianPackage) => {
    expect(missingProgram(program).hints).toEqual([`Install it: apt install ${debianPackage}`])
  })

  it('are no shell', async () => {
    expect((await runProgram('echo', ['$(id)', ';', 'id'])).stdout).toBe('$(id) ; id\n')
  })
})

/** The state of a process in one letter; empty: there is none. */
function stateOf(pid: string): string {
  if (!existsSync(`/proc/${pid}/stat`)) return ''
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .slice(0, 1)
}
