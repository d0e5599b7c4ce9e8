import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLog } from '../../../../src/cli/agent/log.ts'

const ROOM_FOR_TWO = 80

describe.skipIf(process.platform !== 'linux')('the log of an agent', () => {
  let folder: string
  let path: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'agent-log-'))
    path = join(folder, 'agent.log')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const texts = (file: string): readonly string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(line.indexOf(' ') + 1))
  const openFiles = (): readonly string[] =>
    readdirSync('/proc/self/fd')
      .map((fd) => (existsSync(`/proc/self/fd/${fd}`) ? readlinkSync(`/proc/self/fd/${fd}`) : ''))
      .filter((target) => target.startsWith(folder))

  test('has a line with the time for each text, without control characters, and is open to its owner alone', () => {
    const log = openLog(path)
    log.line('peer \u001b[2Jweb\n2')
    log.close()
    expect(readFileSync(path, 'utf8')).toMatch(/^\d{4}-\d\d-\d\dT\S+Z peer {2}\[2Jweb 2\n$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('is renamed when it is full', () => {
    const log = openLog(path, { bytesMax: ROOM_FOR_TWO })
    for (const text of ['one', 'two', 'three', 'four', 'five']) log.line(text)
    log.close()
    expect([texts(`${path}.1`), texts(path)]).toEqual([['three', 'four'], ['five']])
  })

  test('is made again when it is full and another program has removed it', () => {
    const log = openLog(path, { bytesMax: ROOM_FOR_TWO })
    log.line('one')
    log.line('two')
    rmSync(path)
    log.line('three')
    expect(texts(path)).toEqual(['three'])
    expect(openFiles()).toEqual([path])
    log.close()
  })

  test('closes no other file where it cannot be renamed, and goes on once it can', () => {
    const log = openLog(path, { bytesMax: ROOM_FOR_TWO })
    log.line('one')
    log.line('two')
    mkdirSync(`${path}.1`)
    log.line('lost')
    log.line('lost too')
    expect(openFiles()).toEqual([path])
    rmSync(`${path}.1`, { recursive: true })
    log.line('three')
    expect([texts(`${path}.1`), texts(path)]).toEqual([['one', 'two'], ['three']])
    log.close()
  })

  test('takes no line after it was closed', () => {
    const echoed: string[] = []
    const log = openLog(path, { echo: (line) => void echoed.push(line) })
    log.close()
    log.line('late')
    expect([readFileSync(path, 'utf8'), echoed.length]).toEqual(['', 1])
  })
})
