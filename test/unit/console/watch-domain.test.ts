import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchDomain } from '../../../src/console/api/watch-domain.ts'

/** A stream of one Domain that a test writes to. */
function createStream() {
  const requests: { readonly path: string; readonly headers: Headers }[] = []
  const answers: Response[] = []
  const text = new TextEncoder()
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
    fetch: async (path: unknown, init?: RequestInit) => {
      requests.push({ path: String(path), headers: new Headers(init?.headers) })
      const answer = answers.shift()
      if (answer === undefined) throw new TypeError('the network is away')
      return answer
    },
  }
}

describe('following a Domain', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function follow(stream: ReturnType<typeof createStream>, isHidden = () => false) {
    /** Types of events, and `ask` each time that the page is to ask again. */
    const seen: (string | undefined)[] = []
    const liveness: string[] = []
    let comeBack = (): void => undefined
    const stop = watchDomain(
      'd1',
      {
        onEvent: ({ event }) => seen.push(event),
        onStale: () => seen.push('ask'),
        onLiveness: (state) => liveness.push(state),
      },
      {
        fetch: stream.fetch,
        after(ms, run) {
          const timer = setTimeout(run, ms)
          return () => clearTimeout(timer)
        },
        isHidden,
        onReturn(run) {
          comeBack = run
          return () => (comeBack = () => undefined)
        },
      },
    )
    return { seen, liveness, stop, comeBack: () => comeBack() }
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  test('asks every 15 seconds where the server has no stream, and tries the stream again after five minutes', async () => {
    const stream = createStream()
    stream.refuse(404)
    const { seen, liveness, stop } = follow(stream)
    await pass(45_000)
    expect(seen).toEqual(['ask', 'ask', 'ask'])
    expect(new Set(liveness)).toEqual(new Set(['polling']))
    expect(stream.requests.map(({ path }) => path)).toEqual(['/v1/domains/d1/events/stream'])
    stream.open()
    await pass(260_000)
    expect(liveness.at(-1)).toBe('live')
    stop()
  })

  test('asks once as the stream begins, reports each event at once, and resumes after the last one', async () => {
    const stream = createStream()
    stream.open()
    const { seen, liveness, stop } = follow(stream)
    await pass(0)
    stream.write('id: 7\nevent: node.registered\ndata: {"a":1}\n\n: keepalive\n\nid: 8\nevent: node.ren')
    stream.write('amed\ndata: {}\n\n')
    await pass(0)
    expect(seen).toEqual(['ask', 'node.registered', 'ask', 'node.renamed', 'ask'])
    stream.end()
    await pass(0)
    expect(liveness.at(-1)).toBe('polling')
    stream.open()
    await pass(5_000)
    expect(stream.requests.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '8'])
    expect(liveness.at(-1)).toBe('live')
    expect(seen.length).toBe(5)
    stop()
  })

  test('asks once a minute while the stream is there, and every two minutes while the page is hidden', async () => {
    const stream = createStream()
    stream.open()
    let isHidden = false
    const { seen, stop, comeBack } = follow(stream, () => isHidden)
    await pass(59_000)
    expect(seen).toEqual(['ask'])
    await pass(1_000)
    expect(seen.length).toBe(2)
    isHidden = true
    await pass(60_000)
    expect(seen.length).toBe(3)
    await pass(119_000)
    expect(seen.length).toBe(3)
    isHidden = false
    comeBack()
    expect(seen.length).toBe(4)
    stop()
  })

  test('sees events while the page is hidden, and asks for none of them before it is shown again', async () => {
    const stream = createStream()
    stream.open()
    let isHidden = false
    const { seen, stop, comeBack } = follow(stream, () => isHidden)
    await pass(0)
    isHidden = true
    stream.write('id: 7\nevent: node.registered\ndata: {}\n\n')
    await pass(30_000)
    expect(seen).toEqual(['ask', 'node.registered'])
    isHidden = false
    comeBack()
    expect(seen).toEqual(['ask', 'node.registered', 'ask'])
    stop()
  })

  test('ends with its function', async () => {
    const stream = createStream()
    stream.open()
    const { seen, stop } = follow(stream)
    await pass(0)
    stop()
    await pass(600_000)
    expect(seen).toEqual(['ask'])
    expect(stream.requests.length).toBe(1)
  })
})
