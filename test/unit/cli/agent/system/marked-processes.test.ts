import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { markedProcesses } from '../../../../../src/cli/agent/system/marked-processes.ts'

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
})
