import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { openRawSocket, requestBytes } from '../support/network/raw-socket.ts'

describe('a server that is told to stop', () => {
  let home: string
  let server: CtlProcess
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'ctl-stop-'))
    server = await startCtl({ args: ['--data-dir', join(home, 'data')] })
  }, 120_000)
  afterAll(async () => {
    await server.end('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })

  it('waits 8 s for a request that does not end, ends within 10 s, and does not wait for connections on which nothing is asked', async () => {
    const port = Number(new URL(server.url).port)
    const [idle, silent, stuck] = await Promise.all([1, 2, 3].map(() => openRawSocket(port)))
    idle?.send(requestBytes('GET /livez'))
    await idle?.answers(1)
    stuck?.send('GET /livez HTTP/1.1\r\nHost: x\r\n')
    // Answered after the bytes above were read.
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    const startedAt = performance.now()
    const ended = server.end('SIGTERM')
    await Promise.all([idle?.closed(), silent?.closed()])
    const idleMs = performance.now() - startedAt
    expect(await ended).toBe(0)
    const stuckMs = performance.now() - startedAt
    expect(idleMs).toBeLessThan(5_000)
    expect(stuckMs).toBeGreaterThan(7_900)
    expect(stuckMs).toBeLessThan(15_000)
  }, 180_000)
})
