import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reachTarget } from '../../../../../src/cli/agent/sessions/reach-target.ts'
import { networksOf, targetRule } from '../../../../../src/cli/agent/sessions/session-target.ts'

describe('A target that is a name', () => {
  let server: Server
  let port: number
  const asked: string[] = []
  const isAllowed = targetRule(networksOf(['127.9.0.0/16']))
  const reach = (...addresses: readonly string[]) =>
    reachTarget(
      { host: 'db.internal', port },
      {
        isAllowed,
        resolve: async (host) => {
          asked.push(host)
          return addresses
        },
      },
    )

  beforeEach(async () => {
    asked.length = 0
    server = createServer((socket) => socket.on('error', () => undefined).end())
    await new Promise<void>((resolve) => server.listen(0, '127.9.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterEach(() => void server.close())

  it('is resolved once, and its address is connected to', async () => {
    const reached = await reach('127.9.0.1')
    expect(reached.ok && reached.socket.remoteAddress).toBe('127.9.0.1')
    if (reached.ok) reached.socket.destroy()
    expect(asked).toEqual(['db.internal'])
  })

  it('is refused where one of its addresses is not allowed', async () => {
    expect(await reach('127.9.0.1', '169.254.169.254')).toEqual({ ok: false, fault: 'target_refused' })
    expect(await reach('192.168.0.1', '127.9.0.1')).toEqual({ ok: false, fault: 'target_refused' })
  })

  it('is not reached where it has no address', async () => {
    expect(await reach()).toEqual({ ok: false, fault: 'target_unreachable' })
  })
})
