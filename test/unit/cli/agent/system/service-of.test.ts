import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isOfThisService } from '../../../../../src/cli/agent/system/service-of.ts'

const UNIT = '0::/system.slice/ctl-agent.service\n'
const SESSION = '0::/user.slice/user-0.slice/session-3.scope\n'
const OTHER_SESSION = '0::/user.slice/user-0.slice/session-4.scope\n'
/** The named hierarchy of a machine with the first version of control groups. */
const HYBRID_UNIT = '12:pids:/x\n1:name=systemd:/system.slice/ctl-agent.service\n'
const HYBRID_SESSION = '12:pids:/x\n1:name=systemd:/user.slice/user-0.slice/session-3.scope\n'

describe('a process of the agent', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-service-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const put = (pid: string, cgroup: string) => {
    mkdirSync(join(folder, pid))
    writeFileSync(join(folder, pid, 'cgroup'), cgroup)
  }

  test.each([
    ['the same service', UNIT, UNIT, true],
    ['a session, seen from a service', UNIT, SESSION, false],
    ['a service, seen from a session', SESSION, UNIT, true],
    ['another session, seen from a session', SESSION, OTHER_SESSION, true],
    ['the same service with both hierarchies', HYBRID_UNIT, HYBRID_UNIT, true],
    ['a session with both hierarchies, seen from a service', HYBRID_UNIT, HYBRID_SESSION, false],
  ])('of %s', (_, own, other, isSame) => {
    put('self', own)
    put('7', other)
    expect(isOfThisService(7, folder)).toBe(isSame)
  })

  test('that has ended is none of a service', () => {
    put('self', UNIT)
    expect(isOfThisService(7, folder)).toBe(false)
  })
})
