import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chooseNode } from '../../../../../src/cli/agent/install/choose-node.ts'
import type { RunProgram } from '../../../../../src/cli/agent/system/run-program.ts'

const isRoot = process.geteuid?.() === 0
/** No user of a usual machine. */
const OTHER_UID = 65_000

describe.skipIf(!isRoot)('the Node of the service', () => {
  let folder: string
  let versions: Record<string, string>

  const run: RunProgram = async (program) => ({ stdout: versions[program] ?? '', stderr: '', exitCode: 0 })
  const node = (name: string, version = 'v20.19.0'): string => {
    const path = join(folder, name)
    writeFileSync(path, '', { mode: 0o755 })
    versions[path] = `${version}\n`
    return path
  }

  beforeEach(() => {
    folder = mkdtempSync('/var/lib/ctl-test-')
    chmodSync(folder, 0o755)
    versions = {}
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('is the one that runs this program, where only root can change it', async () => {
    const running = node('running')
    expect(await chooseNode({ running, usual: [node('usual')], run })).toBe(running)
  })

  test('may be reached by a link of root, which an upgrade changes', async () => {
    const running = join(folder, 'link')
    symlinkSync(node('running'), running)
    versions[running] = 'v22.1.0\n'
    expect(await chooseNode({ running, usual: [], run })).toBe(running)
  })

  test.each([
    ['a folder of another user that one of the links is in', (inner: string) => chownSync(inner, OTHER_UID, OTHER_UID)],
    ['a link of another user', (inner: string) => lchownSync(join(inner, 'current'), OTHER_UID, OTHER_UID)],
  ])('is not reached through %s', async (_, spoil) => {
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    symlinkSync(node('real'), join(inner, 'current'))
    const running = join(folder, 'link')
    symlinkSync('inner/current', running)
    versions[running] = 'v22.1.0\n'
    expect(await chooseNode({ running, usual: [], run })).toBe(running)
    spoil(inner)
    await expect(chooseNode({ running, usual: [], run })).rejects.toThrow(/inner\S* does not belong to root/)
  })

  test('is not reached through a folder that is itself a link into one of another user', async () => {
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    symlinkSync(node('real'), join(inner, 'node'))
    symlinkSync(inner, join(folder, 'bin'))
    chownSync(inner, OTHER_UID, OTHER_UID)
    const running = join(folder, 'bin/node')
    versions[running] = 'v22.1.0\n'
    await expect(chooseNode({ running, usual: [], run })).rejects.toThrow(`${inner} does not belong to root`)
  })

  test.each([
    ['belongs to another user', (path: string) => chownSync(path, OTHER_UID, OTHER_UID), 'does not belong to root'],
    ['can be written by others', (path: string) => chmodSync(path, 0o777), 'can be changed by others than root'],
    ['is too old', (path: string) => void (versions[path] = 'v20.18.3\n'), 'is v20.18.3'],
    ['is no Node', (path: string) => void (versions[path] = ''), 'is no Node'],
    ['is gone', (path: string) => rmSync(path), 'does not exist'],
  ])('is another one of the machine where that %s', async (_, spoil, why) => {
    const [running, usual] = [node('running'), node('usual')]
    spoil(running)
    expect(await chooseNode({ running, usual: [usual], run })).toBe(usual)
    await expect(chooseNode({ running, usual: [], run })).rejects.toThrow(
      `there is no Node that a service can run: ${running} ${why}`,
    )
  })

  test('is not in a folder that another user can change', async () => {
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    const running = node('inner/node')
    chownSync(inner, OTHER_UID, OTHER_UID)
    await expect(chooseNode({ running, usual: [], run })).rejects.toThrow(`${inner} does not belong to root`)
  })

  test('is not in a home', async () => {
    const home = mkdtempSync('/root/ctl-test-')
    try {
      const running = join(home, 'node')
      writeFileSync(running, '', { mode: 0o755 })
      await expect(chooseNode({ running, usual: [], run })).rejects.toThrow(
        `${running} is in /root, which services do not see`,
      )
    } finally {
      rmSync(home, { recursive: true })
    }
  })
})
