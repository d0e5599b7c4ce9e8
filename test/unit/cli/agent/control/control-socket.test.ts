import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { askAgent } from '../../../../../src/cli/agent/control/ask-agent.ts'
import { listenForControl } from '../../../../../src/cli/agent/control/control-socket.ts'

describe('the control socket of an agent', () => {
  let folder: string
  let path: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'agent-socket-'))
    path = join(folder, 'agent.sock')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('answers what it is asked, is open to its owner alone, and is gone when it is closed', async () => {
    const socket = await listenForControl(path, async (request) => ({ request }))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await askAgent(path, 'status')).toEqual({ request: 'status' })
    await socket.close()
    expect(existsSync(path)).toBe(false)
    expect(await askAgent(path, 'status')).toBeUndefined()
  })

  test('answers a failure with its reason', async () => {
    const socket = await listenForControl(path, () => Promise.reject(new Error('wireguard-go does not answer')))
    await expect(askAgent(path, 'peers')).rejects.toMatchObject({
      code: 'agent_failed',
      message: 'the agent answers: wireguard-go does not answer',
    })
    await socket.close()
  })

  test('does not wait for a program that has its answer and stays connected', async () => {
    const socket = await listenForControl(path, async () => null, { idleMsMax: 50 })
    const client = connect({ path, allowHalfOpen: true })
    client.write('stop\n')
    client.resume()
    await once(client, 'end')
    await socket.close()
    client.destroy()
  })

  test('is refused in a folder whose path is too long for it', async () => {
    await expect(listenForControl(join(folder, 'x'.repeat(108)), async () => null)).rejects.toMatchObject({
      code: 'state_dir_unusable',
    })
  })
})
