import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createInstalledCtl } from '../../../scripts/lib/installed-ctl.mjs'

describe('ctl as it is installed', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-installed-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** `ctl` whose script is this text. */
  function ctlOf(text: string, commandMsMax = 60_000) {
    const script = join(folder, 'ctl.cjs')
    writeFileSync(script, text)
    return createInstalledCtl({ node: process.execPath, script, home: folder, data: folder, commandMsMax })
  }

  test('fails where a command does not end, such as a server that should have refused to start', async () => {
    const { attempt } = ctlOf(`setInterval(() => undefined, 1000)`, 500)
    await expect(attempt(['serve'])).rejects.toThrow('ctl serve does not end within 0.5 s')
  })

  test('gives the exit code of a command and what it printed', async () => {
    const { attempt } = ctlOf(`console.log('out'); console.error('refused'); process.exitCode = 3`)
    expect(await attempt(['serve'])).toEqual({ code: 3, stdout: 'out\n', stderr: 'refused\n' })
  })

  test('fails where Node warns', async () => {
    const { attempt } = ctlOf(`process.emitWarning('old', 'DeprecationWarning')`)
    await expect(attempt(['status'])).rejects.toThrow('ctl status warns: ')
  })
})
