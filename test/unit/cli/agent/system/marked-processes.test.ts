import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { endMarked, markedProcesses } from '../../../../../src/cli/agent/system/marked-processes.ts'

const MARKS = { CTL_TUNNEL: '/var/lib/ctl-agent/charon', CTL_TUNNEL_CONFIG: 'digest' }
const ENVIRON = 'PATH=/bin\0CTL_TUNNEL=/var/lib/ctl-agent/charon\0CTL_TUNNEL_CONFIG=digest\0'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-marked-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A process as `/proc` shows it. */
function add(pid: string, { environ = ENVIRON, user = '0', network = 'net:[1]' } = {}): void {
  mkdirSync(join(folder, pid, 'ns'), { recursive: true })
  writeFileSync(join(folder, pid, 'environ'), environ)
  writeFileSync(join(folder, pid, 'status'), `Name:\tcharon\nUid:\t${user}\t0\t0\t0\n`)
  symlinkSync(network, join(folder, pid, 'ns', 'net'))
}

describe('marked processes', () => {
  test('have all of the marks, and are of this user and this network namespace', () => {
    add('self', { environ: '' })
    add('10')
    add('11', { environ: 'CTL_TUNNEL=/var/lib/ctl-agent/charon\0CTL_TUNNEL_CONFIG=another\0' })
    // A program of root that another user has started, with the marks in its environment.
    add('12', { user: '1000' })
    // That of an agent in a container, which has the same state folder.
    add('13', { network: 'net:[2]' })
    // One that has ended without being reaped.
    mkdirSync(join(folder, '14'))
    writeFileSync(join(folder, '14', 'environ'), '')
    expect(markedProcesses(MARKS, folder)).toEqual([10])
    expect(markedProcesses({ CTL_TUNNEL: MARKS.CTL_TUNNEL }, folder)).toEqual([10, 11])
  })

  test('end, and others go on', async () => {
    const started = async (tunnel: string): Promise<ChildProcess> => {
      const env = { CTL_TUNNEL: join(folder, tunnel) }
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env, stdio: 'ignore' })
      await once(child, 'spawn')
      // Between fork and exec it has the environment of this process.
      await vi.waitFor(() => expect(markedProcesses(env)).toEqual([child.pid]), { timeout: 10_000, interval: 10 })
      return child
    }
    const [one, other] = [await started('one'), await started('other')]
    try {
      const ended = once(one, 'exit')
      await endMarked({ CTL_TUNNEL: join(folder, 'one') })
      await ended
      expect(markedProcesses({ CTL_TUNNEL: join(folder, 'other') })).toEqual([other.pid])
    } finally {
      one.kill('SIGKILL')
      other.kill('SIGKILL')
    }
  })
})
