import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openHook } from '../../../../../src/cli/agent/executions/hook-file.ts'
import { runHook } from '../../../../../src/cli/agent/executions/hook-process.ts'
import { createHooks, type DeclaredHook, type HookOutcome } from '../../../../../src/cli/agent/executions/hooks.ts'
import { openTrustedFolder } from '../../../../../src/cli/agent/executions/trusted-path.ts'
import type { PulledExecution } from '../../../../../src/client/agent/state/snapshot.ts'

const NOW_MS = Date.UTC(2026, 2, 1)
const ID = '0197a000-0000-7000-8000-00000000e001'
const NOBODY = 65_534

/** Hooks need a folder of which root alone can change every parent; /tmp is not one. */
describe.skipIf(process.getuid?.() !== 0)('hooks, as root', () => {
  let parent: string
  let folder: string
  beforeEach(() => {
    parent = mkdtempSync('/run/ctl-hooks-test-')
    chmodSync(parent, 0o755)
    folder = join(parent, 'hooks')
    mkdirSync(folder, { mode: 0o755 })
  })
  afterEach(() => rmSync(parent, { recursive: true, force: true }))

  const at = (name: string): string => join(folder, name)
  const hooks = (): ReturnType<typeof createHooks> => createHooks({ folder, clock: { now: () => NOW_MS } })
  const digest = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

  function put(name: string, text: string | Buffer, mode = 0o755): DeclaredHook {
    writeFileSync(at(name), text)
    chmodSync(at(name), mode)
    return { name, checksum: digest(text) }
  }

  const script = (lines: string): string => `#!/bin/sh\n${lines}\n`

  function execution(action: string, more: Partial<PulledExecution> = {}): PulledExecution {
    const expiresAt = new Date(NOW_MS + 60_000).toISOString()
    const times = { requested_at: new Date(NOW_MS).toISOString(), expires_at: expiresAt }
    return { execution_id: ID, action, type: 'hook', status: 'started', ...times, ...more }
  }

  function run(hook: DeclaredHook, more: Partial<PulledExecution> = {}, signal?: AbortSignal): Promise<HookOutcome> {
    return hooks().run(execution(hook.name, more), [hook], signal ?? new AbortController().signal)
  }

  const expiringIn = (ms: number): Partial<PulledExecution> => ({ expires_at: new Date(NOW_MS + ms).toISOString() })

  /** Pids that the hook has written down, one a line. */
  async function writtenPids(file: string, count: number): Promise<number[]> {
    const read = (): number[] => readFileSync(file, 'utf8').trim().split('\n').map(Number)
    await vi.waitFor(() => expect(read()).toHaveLength(count), 10_000)
    return read()
  }

  /** Whether a process runs; one that has ended and that nothing has waited for does not. */
  function runs(pid: number): boolean {
    if (!existsSync(`/proc/${pid}/stat`)) return false
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  }

  describe('listing', () => {
    it('names programs and scripts with the SHA-256 of their content', async () => {
      const backup = put('backup', script('true'))
      const binary = put('a.program_1-x', readFileSync('/bin/true'))
      expect(await hooks().list()).toEqual({ hooks: [binary, backup], refused: [] })
    })

    it('finds none where there is no folder', async () => {
      rmSync(folder, { recursive: true })
      expect(await hooks().list()).toEqual({ hooks: [], refused: [] })
    })

    it.each([
      ['a link', () => symlinkSync('/bin/true', at('x')), 'x is a symbolic link, which is not followed'],
      ['a folder', () => mkdirSync(at('x')), 'x is not a regular file'],
      ['a FIFO', () => execFileSync('mkfifo', [at('x')]), 'x is not a regular file'],
      ['writable by its group', () => put('x', script(''), 0o775), 'x can be written by others; run: chmod go-w x'],
      ['writable by others', () => put('x', script(''), 0o757), 'x can be written by others; run: chmod go-w x'],
      ['not executable', () => put('x', script(''), 0o644), 'x is not executable'],
      ['a text', () => put('x', 'rm -rf /\n'), 'x is neither a program nor a script that begins with #!'],
      ['empty', () => put('x', ''), 'x is neither a program nor a script that begins with #!'],
      ['named otherwise', () => put('X', script('')), 'X is no name of a hook: lower case letters, digits, and . _ -'],
      [
        'of another user',
        () => {
          put('x', script(''))
          chownSync(at('x'), NOBODY, 0)
        },
        'x belongs to the user 65534, not to root',
      ],
    ])('leaves out a file that is %s', async (_, make, reason) => {
      const good = put('good', script('true'))
      make()
      expect(await hooks().list()).toEqual({ hooks: [good], refused: [reason] })
    })

    it.each([
      ['the folder is a link', () => [renameSync(folder, `${folder}2`), symlinkSync(`${folder}2`, folder)], 'hooks'],
      ['the folder can be written by others', () => chmodSync(folder, 0o777), 'hooks'],
      ['the folder is of another user', () => chownSync(folder, NOBODY, 0), 'hooks'],
      ['a parent can be written by its group', () => chmodSync(parent, 0o775), ''],
      ['a parent is of another user', () => chownSync(parent, NOBODY, 0), ''],
      ['the folder is a file', () => [rmSync(folder, { recursive: true }), writeFileSync(folder, '')], 'hooks'],
    ])('has no hooks and says why when %s', async (_, spoil, name) => {
      put('good', script('true'))
      spoil()
      const { hooks: found, refused } = await hooks().list()
      expect(found).toEqual([])
      expect(refused).toEqual([expect.stringMatching(new RegExp(`^${join(parent, name)} (?:is|can|belongs) `))])
    })

    it('stops at 256 hooks', async () => {
      for (let number = 0; number < 257; number += 1) put(`h${String(number).padStart(3, '0')}`, script('true'))
      const { hooks: found, refused } = await hooks().list()
      expect(found).toHaveLength(256)
      expect(refused).toEqual(['h256 is over the bound of 256 hooks'])
    })

    it('leaves no descriptor open', async () => {
      put('good', script('true'))
      put('text', 'text')
      const open = (): number => readdirSync('/proc/self/fd').length
      await hooks().list()
      const before = open()
      for (let round = 0; round < 20; round += 1) await hooks().list()
      await run({ name: 'good', checksum: 'another' })
      expect(open()).toBeLessThanOrEqual(before)
    })
  })

  describe('running', () => {
    it('gives the hook its parameters on stdin, a clean environment and no descriptor of the folder', async () => {
      process.env['CTL_HOOKS_TEST_SECRET'] = 'x'
      const hook = put('show', script('env | sort; pwd; cat; echo; readlink /proc/$$/fd/* | grep ctl-hooks | sort -u'))
      const { end, violation } = await run(hook, { parameters: { version: '1.2', path: '$(id)' } })
      delete process.env['CTL_HOOKS_TEST_SECRET']
      expect(violation).toBeUndefined()
      const lines = (end.callback.output ?? '').split('\n').filter((line) => !/^(?:_|OLDPWD|SHLVL)=/.test(line))
      expect(lines).toEqual([
        `CTL_EXECUTION_ID=${ID}`,
        'HOME=/root',
        'LANG=C.UTF-8',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'PWD=/',
        '/',
        '{"version":"1.2","path":"$(id)"}',
        // Open in the hook are its own file, and not the folder.
        at('show'),
        '',
      ])
      expect(end.callback).toMatchObject({ status: 'succeeded', exit_code: 0 })
    })

    it('runs programs, and scripts of any interpreter', async () => {
      const program = put('program', readFileSync('/bin/echo'))
      expect((await run(program)).end.callback).toEqual({ status: 'succeeded', exit_code: 0, output: '\n' })
      const node = put('node', `#!${process.execPath}\nprocess.stdout.write('from node')\n`)
      expect((await run(node)).end.callback).toEqual({ status: 'succeeded', exit_code: 0, output: 'from node' })
    })

    it('fails with the exit code of the hook and what it printed, on stdout and stderr', async () => {
      const hook = put('broken', script('echo before; echo wrong >&2; exit 7'))
      const { callback } = (await run(hook)).end
      expect(callback).toMatchObject({ status: 'failed', exit_code: 7 })
      expect(callback.output?.split('\n').toSorted()).toEqual(['', 'before', 'wrong'])
    })

    it('fails with the signal that ended the hook', async () => {
      const hook = put('killed', script('kill -SEGV $$'))
      expect((await run(hook)).end.callback).toEqual({
        status: 'failed',
        exit_code: 139,
        output: '',
        error: 'the hook killed was ended by SIGSEGV',
      })
    })

    it('fails when the interpreter is missing', async () => {
      const hook = put('lost', '#!/nonexistent/sh\n')
      expect((await run(hook)).end.callback).toEqual({
        status: 'failed',
        output: '',
        error: 'the hook lost cannot be started (ENOENT); is its interpreter there?',
      })
    })

    it('does not run a hook that was not declared', async () => {
      put('there', script(`touch ${join(parent, 'ran')}`))
      const outcome = await hooks().run(execution('there'), [], new AbortController().signal)
      expect(outcome).toEqual({
        end: { callback: { status: 'failed', error: 'this agent has no hook there' } },
        violation: undefined,
      })
      expect(existsSync(join(parent, 'ran'))).toBe(false)
    })

    it('does not run a hook whose content has changed, and names both checksums for the integrity report', async () => {
      const declared = put('backup', script('true'))
      const now = put('backup', script(`touch ${join(parent, 'ran')}`))
      expect(await run(declared)).toEqual({
        end: {
          callback: {
            status: 'failed',
            error: 'the hook backup differs from the one that was declared; it was not run',
          },
        },
        violation: {
          kind: 'hook',
          artifact: 'backup',
          expected_checksum: declared.checksum,
          observed_checksum: now.checksum,
          detected_at: '2026-03-01T00:00:00.000Z',
        },
      })
      expect(existsSync(join(parent, 'ran'))).toBe(false)
    })

    it.each([
      ['is gone', () => rmSync(at('backup')), 'backup does not exist'],
      ['can be written by others', () => chmodSync(at('backup'), 0o777), 'backup can be written by others'],
      [
        'is a link now, even to the same content',
        () => [renameSync(at('backup'), join(parent, 'moved')), symlinkSync(join(parent, 'moved'), at('backup'))],
        'backup is a symbolic link',
      ],
      ['is in a folder of another user', () => chownSync(folder, NOBODY, 0), 'belongs to the user 65534'],
    ])('does not run a hook that %s, and reports it', async (_, spoil, reason) => {
      const declared = put('backup', script(`touch ${join(parent, 'ran')}`))
      spoil()
      const { end, violation } = await run(declared)
      expect(end.callback).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) })
      expect(violation).toEqual({
        kind: 'hook',
        artifact: 'backup',
        expected_checksum: declared.checksum,
        detected_at: '2026-03-01T00:00:00.000Z',
      })
      expect(existsSync(join(parent, 'ran'))).toBe(false)
    })

    it.each([
      ['a script', script('echo checked')],
      ['a program', readFileSync('/bin/echo')],
    ])('runs what was checked when another file takes the name in between: %s', async (_, content) => {
      put('swapped', content)
      const opened = await openTrustedFolder(folder)
      const hook = await openHook(opened, 'swapped')
      await opened.close()
      put('other', script('echo swapped'))
      renameSync(at('other'), at('swapped'))
      const call = { executionId: ID, parameters: {}, timeoutMs: 10_000, signal: new AbortController().signal }
      const { output, exitCode } = await runHook(hook, call)
      await hook.close()
      expect([output.trim(), exitCode]).toEqual([typeof content === 'string' ? 'checked' : '', 0])
    })
  })

  describe('bounds', () => {
    it('kills a hook when the execution expires, with everything that it started', async () => {
      const pids = join(parent, 'pids')
      const hook = put('slow', script(`sleep 300 & echo $! >> ${pids}; echo $$ >> ${pids}; echo begun; wait`))
      const { callback } = (await run(hook, expiringIn(3_000))).end
      expect(callback).toEqual({
        status: 'failed',
        exit_code: 137,
        output: 'begun\n',
        error: 'the hook slow was killed when the execution expired',
      })
      const started = await writtenPids(pids, 2)
      await vi.waitFor(() => expect(started.filter(runs)).toEqual([]), 10_000)
    })

    it('kills a hook that ignores every signal that can be ignored', async () => {
      const hook = put('stubborn', script(`trap '' TERM INT HUP; while :; do sleep 1; done`))
      expect((await run(hook, expiringIn(300))).end.callback).toMatchObject({ status: 'failed', exit_code: 137 })
    })

    it('cancels a hook whose execution is given up, and one that was given up before', async () => {
      const pids = join(parent, 'pids')
      const hook = put('cancelled', script(`echo $$ >> ${pids}; sleep 300`))
      const given = new AbortController()
      const running = run(hook, {}, given.signal)
      const [pid = 0] = await writtenPids(pids, 1)
      given.abort()
      const cancelled = {
        status: 'cancelled',
        error: 'the hook cancelled was killed because the execution was given up',
      }
      expect((await running).end.callback).toMatchObject(cancelled)
      expect(runs(pid)).toBe(false)
      expect((await run(hook, {}, given.signal)).end.callback).toMatchObject(cancelled)
    })

    it('ends what a hook leaves running, without waiting for it', async () => {
      const pids = join(parent, 'pids')
      const hook = put('daemon', script(`sleep 300 & echo $! >> ${pids}; echo done`))
      expect((await run(hook)).end.callback).toEqual({ status: 'succeeded', exit_code: 0, output: 'done\n' })
      const [pid = 0] = await writtenPids(pids, 1)
      await vi.waitFor(() => expect(runs(pid)).toBe(false), 10_000)
    })

    it('does not wait for a process that left the group and holds the output', async () => {
      const pids = join(parent, 'pids')
      const hook = put(
        'escape',
        script(`setsid sh -c 'echo $$ >> ${pids}; exec sleep 300' & while ! test -s ${pids}; do :; done; echo done`),
      )
      expect((await run(hook)).end.callback).toEqual({ status: 'succeeded', exit_code: 0, output: 'done\n' })
      const [pid = 0] = await writtenPids(pids, 1)
      process.kill(pid, 'SIGKILL')
    })

    it('keeps the first 8,192 bytes of a hook that prints without end', async () => {
      const hook = put('flood', script('yes & yes >&2 & yes'))
      const { callback } = (await run(hook, expiringIn(3_000))).end
      expect(callback).toMatchObject({ status: 'failed', exit_code: 137, output: 'y\n'.repeat(4_096) })
    })

    it('lets a hook that prints 4 MiB end by itself', async () => {
      const hook = put('chatty', script('head -c 4194304 /dev/zero | tr "\\0" x; exit 3'))
      const { callback } = (await run(hook)).end
      expect(callback).toEqual({ status: 'failed', exit_code: 3, output: 'x'.repeat(8_192) })
    })

    it('prints valid UTF-8 without U+0000 within the bound, cut between characters', async () => {
      const bytes = put('bytes', script(`printf 'a\\000b\\377c'`))
      expect((await run(bytes)).end.callback.output).toBe('a\uFFFDb\uFFFDc')
      const zeros = put('zeros', script('head -c 8192 /dev/zero'))
      expect((await run(zeros)).end.callback.output).toBe('\uFFFD'.repeat(2_730))
      const long = put('long', `#!${process.execPath}\nprocess.stdout.write('x' + 'é'.repeat(5000))\n`)
      const output = (await run(long)).end.callback.output ?? ''
      // The last character would have ended one byte after the bound.
      expect([Buffer.byteLength(output) <= 8_192, output.startsWith('xéé')]).toEqual([true, true])
    })

    it('need not read its parameters', async () => {
      const hook = put('deaf', script('exec 0<&-; exit 0'))
      const parameters = { text: 'x'.repeat(1_000_000) }
      expect((await run(hook, { parameters })).end.callback).toMatchObject({ status: 'succeeded', exit_code: 0 })
    })
  })
})
