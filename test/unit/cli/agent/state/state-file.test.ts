import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentState } from '../../../../../src/cli/agent/state/agent-state.ts'
import type { FileSystem } from '../../../../../src/cli/agent/state/atomic-file.ts'
import { openStateFolder } from '../../../../../src/cli/agent/state/state-folder.ts'
import { readState, writeState } from '../../../../../src/cli/agent/state/state-file.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'agent-state-'))
  path = join(folder, 'agent.json')
})
afterEach(() => fs.rm(folder, { recursive: true, force: true }))

const state: AgentState = enrolledState()
const other: AgentState = { ...state, machine: { ...state.machine, mtu: 1280 } }

describe('the state file', () => {
  test('is read as it was written, and is open to its owner alone', async () => {
    await writeState(path, state)
    expect(await readState(path)).toEqual(state)
    expect((await fs.stat(path)).mode & 0o777).toBe(0o600)
  })

  test('is undefined where there is none', async () => {
    expect(await readState(path)).toBeUndefined()
  })

  test.each(['ENOSPC', 'EIO', 'EROFS'])(
    'stays as it was where the disk fails with %s, and no other file is left',
    async (code) => {
      await writeState(path, state)
      await expect(writeState(path, other, failingWrites(code))).rejects.toMatchObject({ code: 'state_not_written' })
      expect(await readState(path)).toEqual(state)
      expect(await fs.readdir(folder)).toEqual(['agent.json'])
    },
  )

  test('is synced before it takes the place of the former one, and its folder after that', async () => {
    const calls: string[] = []
    await writeState(path, state, recording(calls))
    expect(calls).toEqual(['sync file', 'rename', 'sync folder'])
  })

  test('is refused where others can open it', async () => {
    await writeState(path, state)
    await fs.chmod(path, 0o640)
    await expect(readState(path)).rejects.toMatchObject({ code: 'state_open_to_others' })
  })

  test.each([
    ['no JSON', '{"format":1,'],
    ['another format', JSON.stringify({ ...state, format: 2 })],
    ['a list', '[]'],
    ['no secret key', JSON.stringify({ ...state, enrolment: { ...state.enrolment, nsk: undefined } })],
    ['no epochs', JSON.stringify({ ...state, enrolment: { ...state.enrolment, epochs: undefined } })],
  ])('is refused with %s', async (_, text) => {
    await fs.writeFile(path, text, { mode: 0o600 })
    await expect(readState(path)).rejects.toMatchObject({ code: 'state_unreadable' })
  })
})

describe('the state folder', () => {
  test('is made for its owner alone', async () => {
    const made = join(folder, 'deep', 'state')
    await openStateFolder(made)
    expect((await fs.stat(made)).mode & 0o777).toBe(0o700)
  })

  test.each([0o770, 0o707])('is refused with the mode %o', async (mode) => {
    await fs.chmod(folder, mode)
    await expect(openStateFolder(folder)).rejects.toMatchObject({ code: 'state_dir_unusable' })
  })
})

/** A file system whose files take no bytes. */
function failingWrites(code: string): FileSystem {
  return {
    ...fs,
    async open(...args: Parameters<typeof fs.open>) {
      const file = await fs.open(...args)
      file.writeFile = () => Promise.reject(Object.assign(new Error(`${code}: write`), { code }))
      return file
    },
  }
}

function recording(calls: string[]): FileSystem {
  return {
    ...fs,
    async open(...args: Parameters<typeof fs.open>) {
      const file = await fs.open(...args)
      const sync = file.sync.bind(file)
      file.sync = () => {
        calls.push(args[1] === 'r' ? 'sync folder' : 'sync file')
        return sync()
      }
      return file
    },
    rename(...args) {
      calls.push('rename')
      return fs.rename(...args)
    },
  }
}
