import { describe, expect, it } from 'vitest'
import { asTyped } from '../../../../src/cli/errors/npx-command-hints.ts'
import type { Io } from '../../../../src/cli/output/io.ts'

const NPX = { npm_command: 'exec', npm_lifecycle_event: 'npx' }

/** Only the environment is looked at. */
const io = (env: Io['env']): Io => ({ env }) as Io

describe('Commands in hints are spelt as this process was started', () => {
  it.each([
    ['See: ctl nodes list', 'See: npx ctl nodes list'],
    ['Start a server with "ctl serve", or name one.', 'Start a server with "npx ctl serve", or name one.'],
    ['ctl a; ctl b', 'npx ctl a; npx ctl b'],
    ['npx ctl whoami', 'npx ctl whoami'],
    ['Is that the address of a ctl server?', 'Is that the address of a ctl server?'],
    ['/usr/bin/ctl serve', '/usr/bin/ctl serve'],
    ['this is a fault in ctl', 'this is a fault in ctl'],
  ])('%s', (text, typed) => {
    expect(asTyped(text, io(NPX))).toBe(typed)
    expect(asTyped(text, io({}))).toBe(text)
  })

  it('a script of npm is not npx', () => {
    expect(asTyped('See: ctl x', io({ npm_command: 'run-script', npm_lifecycle_event: 'start' }))).toBe('See: ctl x')
  })
})
