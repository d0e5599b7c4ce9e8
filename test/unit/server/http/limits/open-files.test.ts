import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createOpenFiles, type OpenFilesState } from '../../../../../src/server/http/limits/open-files.ts'
import type { OverloadReason } from '../../../../../src/server/http/limits/overload-meter.ts'
import { Problem } from '../../../../../src/shared/problems.ts'

const NOW_MS = Date.parse('2026-03-01T08:00:00.000Z')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: NOW_MS })
})
afterEach(() => vi.useRealTimers())

/** A listener without sockets. */
class FakeServer extends EventEmitter {
  maxConnections = 0
  sweeps = 0
  readonly #sockets: EventEmitter[] = []

  accept(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const socket = new EventEmitter()
      this.#sockets.push(socket)
      this.emit('connection', socket)
    }
  }

  close(count: number): void {
    for (const socket of this.#sockets.splice(0, count)) socket.emit('close')
  }

  closeIdleConnections(): void {
    this.sweeps += 1
  }
}

/** 200 files of which 100 are open, with 20 for the server: streams may use 136 in all, connections 180. */
async function started({ random = 0 } = {}) {
  const server = new FakeServer()
  const refused: OverloadReason[] = []
  const changes: OpenFilesState[] = []
  const counted: { others: number | undefined } = { others: 100 }
  let connections = 0
  server.on('connection', (socket: EventEmitter) => {
    connections += 1
    socket.once('close', () => (connections -= 1))
  })
  const openFiles = createOpenFiles({
    bounds: {
      own: 20,
      files: { max: 200, count: async () => counted.others && counted.others + connections },
    },
    meter: { refused: (reason) => void refused.push(reason) },
    onChange: (state) => void changes.push(state),
    random: () => random,
  })
  openFiles.follow(server as unknown as Server)
  await openFiles.start()
  const retryAfter = (): unknown => {
    try {
      openFiles.assertRoomForStream()
      return undefined
    } catch (error) {
      return error instanceof Problem ? [error.code, error.extras['retry_after_seconds']] : error
    }
  }
  return { server, openFiles, refused, changes, counted, retryAfter }
}

describe('open files', () => {
  it('refuse streams above their reserve, and every answer closes its connection from there on', async () => {
    const { server, openFiles, refused, retryAfter } = await started()
    server.accept(36)
    expect([openFiles.isScarce(), retryAfter()]).toEqual([false, undefined])
    server.accept(1)
    expect([openFiles.isScarce(), retryAfter()]).toEqual([true, ['overloaded', 15]])
    expect(refused).toEqual(['open_files'])
    server.close(1)
    expect([openFiles.isScarce(), retryAfter()]).toEqual([false, undefined])
    openFiles.stop()
  })

  it('spread those that come back over 45 seconds', async () => {
    const { server, openFiles, retryAfter } = await started({ random: 0.999 })
    server.accept(50)
    expect(retryAfter()).toEqual(['overloaded', 59])
    openFiles.stop()
  })

  it('bound connections by what is left, and count what is no connection again every five seconds', async () => {
    const { server, openFiles, counted } = await started()
    expect(server.maxConnections).toBe(80)
    server.accept(10)
    counted.others = 130
    await vi.advanceTimersByTimeAsync(5_000)
    expect([server.maxConnections, openFiles.state()?.open]).toEqual([50, 140])
    openFiles.stop()
  })

  it('bound a listener that is made after they were counted', async () => {
    const { openFiles } = await started()
    const second = new FakeServer()
    openFiles.follow(second as unknown as Server)
    expect(second.maxConnections).toBe(80)
    openFiles.stop()
  })

  it('stay as they were counted last where they cannot be counted, and always leave one connection', async () => {
    const { server, openFiles, counted } = await started()
    counted.others = undefined
    await vi.advanceTimersByTimeAsync(5_000)
    expect(server.maxConnections).toBe(80)
    counted.others = 199
    await vi.advanceTimersByTimeAsync(5_000)
    expect(server.maxConnections).toBe(1)
    openFiles.stop()
  })

  it('close idle connections when one was closed as it was accepted, at most once a second', async () => {
    const { server, openFiles, refused } = await started()
    for (let times = 0; times < 5; times += 1) server.emit('drop')
    expect(server.sweeps).toBe(1)
    vi.setSystemTime(NOW_MS + 1_000)
    server.emit('drop')
    expect([server.sweeps, refused]).toEqual([2, Array(6).fill('accept')])
    openFiles.stop()
  })

  it('report when streams begin to be refused, and once none was for a minute', async () => {
    const { server, openFiles, changes, retryAfter } = await started()
    server.accept(40)
    retryAfter()
    await vi.advanceTimersByTimeAsync(30_000)
    retryAfter()
    await vi.advanceTimersByTimeAsync(55_000)
    const refusing = { open: 140, streamsMax: 136, max: 200, refusesSince: new Date(NOW_MS) }
    expect(changes).toEqual([refusing])
    expect(openFiles.state()).toEqual(refusing)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(changes).toEqual([refusing, { ...refusing, refusesSince: undefined }])
    openFiles.stop()
  })

  it('refuse nothing where no limit is known', async () => {
    const server = new FakeServer()
    const openFiles = createOpenFiles({
      bounds: undefined,
      meter: { refused: () => expect.fail('refused') },
      onChange: () => expect.fail('changed'),
    })
    openFiles.follow(server as unknown as Server)
    await openFiles.start()
    server.accept(1_000)
    openFiles.assertRoomForStream()
    expect([openFiles.isScarce(), openFiles.state(), server.maxConnections]).toEqual([false, undefined, 0])
    openFiles.stop()
  })
})
