import { connect, createServer, Server, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openThrough } from '../../../../../src/cli/commands/node-sessions/far-connection.ts'
import { listenLocally } from '../../../../../src/cli/commands/node-sessions/local-listener.ts'
import { sshProxy } from '../../../../../src/cli/commands/node-sessions/ssh-proxy.ts'
import type { Session } from '../../../../../src/cli/session/session.ts'

/** Of this file alone: the port is always the same. */
const ADDRESS = '127.7.44.3'
const DOOR = { name: 'web-1', address: ADDRESS, target: '127.0.0.1:22' }

describe('A connection to a far agent', { timeout: 10_000 }, () => {
  let agent: Server | undefined
  const sockets: Socket[] = []
  afterEach(() => {
    agent?.close()
    for (const socket of sockets.splice(0)) socket.destroy()
  })

  async function farAgent(serve: (socket: Socket) => void): Promise<void> {
    agent = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket.on('error', () => undefined))
      serve(socket)
    })
    await new Promise<void>((resolve) => agent?.listen(7444, ADDRESS, resolve))
  }

  it('ends when it is interrupted, also while the agent has not answered', async () => {
    const interrupted = new AbortController()
    await farAgent((socket) => socket.once('data', () => interrupted.abort()))
    const opened = () => openThrough(DOOR, 'token', interrupted.signal)
    await expect(opened()).rejects.toThrow('closed the connection without an answer')
    await expect(opened()).rejects.toThrow('closed the connection without an answer')
  })

  it('is ended when it is interrupted later', async () => {
    const interrupted = new AbortController()
    await farAgent((socket) => socket.once('data', () => socket.write('ok\n')))
    const socket = await openThrough(DOOR, 'token', interrupted.signal)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    interrupted.abort()
    await closed
  })

  it('of ssh ends with what it reached, although ssh keeps the input open', async () => {
    await farAgent((socket) => socket.once('data', () => socket.end('ok\nSSH-2.0-test\n')))
    const [input, output] = [new PassThrough(), new PassThrough()]
    const env = { CTL_SSH_SESSION_TOKEN: 'token', CTL_SSH_ADDRESS: ADDRESS, CTL_SSH_NAME: 'web-1' }
    const session = { io: { env, bytes: () => ({ input, output }) } } as unknown as Session
    await sshProxy.run(session, { args: [], flags: {} })
    expect(await text(output.end())).toBe('SSH-2.0-test\n')
  })
})

describe('The local listener', { timeout: 10_000 }, () => {
  const dialled = (at: string): Socket => {
    const socket = connect(Number(at.split(':').at(-1)), '127.0.0.1')
    return socket.on('error', () => undefined)
  }

  it('outlives a connection that is reset before it is forwarded', async () => {
    let accept: (socket: Socket) => void = () => undefined
    const accepted = new Promise<Socket>((resolve) => (accept = resolve))
    const listener = await listenLocally({ host: '127.0.0.1', port: 0 }, (socket) => accept(socket))
    const near = dialled(listener.at)
    const socket = await accepted
    const hadError = new Promise((resolve) => socket.once('close', resolve))
    near.resetAndDestroy()
    expect(await hadError).toBe(true)
    listener.close()
  })

  it('outlives connections that could not be accepted', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen')
    const listener = await listenLocally({ host: '127.0.0.1', port: 0 }, (socket) => socket.end('here'))
    const server = listen.mock.contexts[0] as Server
    listen.mockRestore()
    for (let times = 0; times < 2; times += 1) server.emit('error', new Error('accept EMFILE'))
    expect([server.listening, await text(dialled(listener.at))]).toEqual([true, 'here'])
    listener.close()
  })
})
