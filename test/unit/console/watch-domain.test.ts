import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchDomain } from '../../../src/console/api/watch-domain.ts'
import type { Presence } from '../../../src/console/model/presence.ts'

/** A stream of one Domain that a test writes to. */
function createStream() {
  const requests: { readonly path: string; readonly headers: Headers }[] = []
  const answers: Response[] = []
  const text = new TextEncoder()
  let isCancelled = false
  let writer: ReadableStreamDefaultController<Uint8Array> | undefined
  return {
    requests,
    refuse: (status: number) => answers.push(new Response('{}', { status })),
    open() {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (writer = controller) })
      answers.push(new Response(body))
    },
    write: (frame: string) => writer?.enqueue(text.encode(frame)),
    end: () => writer?.close(),
    isCancelled: () => isCancelled,
    fetch: async (path: unknown, init?: RequestInit) => {
      requests.push({ path: String(path), headers: new Headers(init?.headers) })
      const answer = answers.shift()
      init?.signal?.addEventListener('abort', () => {
        isCancelled = true
        writer?.error(new DOMException('aborted', 'AbortError'))
      })
      if (answer === undefined) throw new TypeError('the network is away')
      return answer
    },
  }
}

describe('following a Domain', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function follow(stream: ReturnType<typeof createStream>, isStreamed = true) {
    /** Types of events, and `read` each time that the page is to read again. */
    const seen: (string | undefined)[] = []
    const liveness: string[] = []
    const listeners = new Set<() => void>()
    let presence: Presence = 'shown'
    const stop = watchDomain(
      'd1',
      {
        onEvent: ({ event }) => seen.push(event),
        onStale: () => seen.push('read'),
        onLiveness: (state) => liveness.push(state),
      },
      {
        fetch: stream.fetch,
        after(ms, run) {
          const timer = setTimeout(run, ms)
          return () => clearTimeout(timer)
        },
        presence: {
          now: () => presence,
          onChange(run) {
            listeners.add(run)
            return () => void listeners.delete(run)
          },
        },
        onOnline: () => () => undefined,
        isStreamed,
      },
    )
    function become(next: Presence): void {
      presence = next
      for (const run of listeners) run()
    }
    return { seen, liveness, stop, become }
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  test('asks for no stream that the person may not read, and reads every 15 seconds', async () => {
    const stream = createStream()
    const { seen, liveness, stop } = follow(stream, false)
    await pass(45_000)
    expect([stream.requests, seen, liveness]).toEqual([[], ['read', 'read', 'read'], ['polling']])
    stop()
  })

  test('reads every 15 seconds where the server has no stream, and tries the stream again after five minutes', async () => {
    const stream = createStream()
    stream.refuse(404)
    const { seen, liveness, stop } = follow(stream)
    await pass(45_000)
    expect(seen).toEqual(['read', 'read', 'read'])
    expect(new Set(liveness)).toEqual(new Set(['polling']))
    expect(stream.requests.map(({ path }) => path)).toEqual(['/v1/domains/d1/events/stream'])
    stream.open()
    await pass(260_000)
    expect(liveness.at(-1)).toBe('live')
    stop()
  })

  test('reads every 15 seconds while no server answers, although it tries the stream every five', async () => {
    const stream = createStream()
    const { seen, liveness, stop } = follow(stream)
    await pass(45_000)
    expect(stream.requests.length).toBeGreaterThanOrEqual(9)
    expect(seen).toEqual(['read', 'read', 'read'])
    expect(liveness).toEqual(['polling'])
    stop()
  })

  test('reads once as the stream begins, reports each event at once, and resumes after the last one', async () => {
    const stream = createStream()
    stream.open()
    const { seen, liveness, stop } = follow(stream)
    await pass(0)
    stream.write('id: 7\nevent: node.registered\ndata: {"a":1}\n\n: keepalive\n\nid: 8\nevent: node.ren')
    stream.write('amed\ndata: {}\n\n')
    await pass(0)
    expect(seen).toEqual(['read', 'node.registered', 'node.renamed'])
    stream.end()
    await pass(0)
    expect(liveness.at(-1)).toBe('polling')
    stream.open()
    await pass(5_000)
    expect(stream.requests.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '8'])
    expect(liveness.at(-1)).toBe('live')
    expect(seen.length).toBe(3)
    stop()
  })

  test('reads once a minute while the stream is there, and not at all while the page is hidden', async () => {
    const stream = createStream()
    stream.open()
    const { seen, stop, become } = follow(stream)
    await pass(59_000)
    expect(seen).toEqual(['read'])
    await pass(1_000)
    expect(seen.length).toBe(2)
    become('hidden')
    await pass(3_600_000)
    expect(seen.length).toBe(2)
    become('shown')
    expect(seen.length).toBe(3)
    await pass(60_000)
    expect(seen.length).toBe(4)
    stop()
  })

  test('has events while the page is hidden, and reads once it is shown again', async () => {
    const stream = createStream()
    stream.open()
    const { seen, stop, become } = follow(stream)
    await pass(0)
    become('hidden')
    stream.write('id: 7\nevent: node.registered\ndata: {}\n\n')
    await pass(30_000)
    expect(seen).toEqual(['read', 'node.registered'])
    become('shown')
    expect(seen).toEqual(['read', 'node.registered', 'read'])
    stop()
  })

  test('closes the stream while people are away, and resumes after the last event when they are back', async () => {
    const stream = createStream()
    stream.open()
    const { seen, liveness, stop, become } = follow(stream)
    await pass(0)
    stream.write('id: 7\nevent: node.registered\ndata: {}\n\n')
    await pass(0)
    become('hidden')
    become('away')
    await pass(0)
    expect([stream.isCancelled(), liveness.at(-1)]).toEqual([true, 'paused'])
    await pass(86_400_000)
    expect(stream.requests.length).toBe(1)
    stream.open()
    become('shown')
    await pass(0)
    expect(stream.requests.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '7'])
    expect(liveness.at(-1)).toBe('live')
    expect(seen).toEqual(['read', 'node.registered', 'read'])
    stop()
  })

  test('closes a stream that opens while people leave', async () => {
    const stream = createStream()
    const { liveness, stop, become } = follow(stream)
    become('away')
    await pass(600_000)
    expect([stream.requests.length, liveness.at(-1)]).toEqual([1, 'paused'])
    stop()
  })

  test('ends with its function', async () => {
    const stream = createStream()
    stream.open()
    const { seen, stop } = follow(stream)
    await pass(0)
    stop()
    await pass(600_000)
    expect(seen).toEqual(['read'])
    expect(stream.requests.length).toBe(1)
  })
})
