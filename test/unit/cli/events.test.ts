import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../../support/cli/cli-run.ts'
import { startEventStub, type EventStub, type StubConnection } from '../../support/events/event-stub.ts'
import { frameOf, NODE_ID, signed, vector, vectorKey, type Vector } from '../../support/events/event-vectors.ts'

const KEY = vectorKey('key-1', 7)
const THIEF = { ...vectorKey('key-1', 9) }
const HEAD_ID = '9007199254740991'
const RESYNC = { reason: 'resync', blocks: [], peers: [] }

const event = (node_seq: number, more: object = {}): Vector => vector(KEY, { node_seq, ...more })
/** The frames of so many events, ids ten times their numbers. */
const frames = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => frameOf(event(from + at), (from + at) * 10)).join('')

describe('ctl', () => {
  let home: CliHome
  let stub: EventStub | undefined
  beforeEach(() => {
    home = createCliHome({ CTL_TOKEN: 'psk_local_x' })
  })
  afterEach(async () => {
    home.remove()
    await stub?.close()
  })

  /** A server whose node has `last` events; `serve` plays the stream for everything but the question for the head. */
  async function serving(
    last: number,
    serve: (connection: StubConnection, stream: number) => void,
  ): Promise<EventStub> {
    let streams = 0
    stub = await startEventStub((connection) => {
      if (connection.path.startsWith('/v1/signing-keys')) return connection.refuse(200, { keys: [KEY.jwk] }, JSON_TYPE)
      if (connection.lastEventId === HEAD_ID)
        return connection.send(frameOf(event(last, { payload: RESYNC }), last * 10))
      streams += 1
      return serve(connection, streams)
    })
    return stub
  }

  const ctl = (argv: string, more: { interrupted?: AbortSignal; stdin?: string } = {}): Promise<CliResult> =>
    home.run(argv.split(' '), { ...more, ...(stub && { env: { CTL_URL: stub.url } }) })

  describe('nodes events', () => {
    it('shows what is kept as JSON lines with the very text of each envelope, and ends at the server’s head', async () => {
      await serving(3, ({ send }) => send(frames(1, 3)))
      const { stdout, exitCode } = await ctl(`nodes events ${NODE_ID}`)
      const lines = stdout.trimEnd().split('\n')
      expect(lines.map((line) => JSON.stringify(JSON.parse(line).data))).toEqual(
        [1, 2, 3].map((one) => event(one).wire),
      )
      expect(JSON.parse(lines[2] ?? '')).toMatchObject({ id: '30', event: 'node_state_updated' })
      expect(exitCode).toBe(0)
      expect(stub?.connections.map(({ lastEventId }) => lastEventId)).toEqual([HEAD_ID, '0'])
    })

    it('shows the newest fifty, says how many older ones there are, and all of them where asked', async () => {
      await serving(60, ({ send }) => send(frames(1, 60)))
      const { stdout, stderr } = await ctl(`nodes events ${NODE_ID} --jq .[0].id`)
      expect(stdout).toBe('110\n')
      expect(stderr).toBe('50 shown, 10 older ones are kept: add --all, or a higher --limit.\n')
      expect((await ctl(`nodes events ${NODE_ID} --all`)).stdout.split('\n')).toHaveLength(61)
    })

    it('begins after --since, and ends when it is quiet where nothing comes', async () => {
      await serving(3, ({ lastEventId, send }) => send(lastEventId === '20' ? frames(3, 3) : ':\n\n'))
      expect((await ctl(`nodes events ${NODE_ID} --since 20 --jq .[].id`)).stdout).toBe('30\n')
      const quiet = await ctl(`nodes events ${NODE_ID} --since 30`)
      expect(quiet).toMatchObject({ stdout: '', stderr: 'No events are kept.\n', exitCode: 0 })
    })

    it('says that nothing is kept without reading on', async () => {
      await serving(0, ({ send }) => send(''))
      expect(await ctl(`nodes events ${NODE_ID}`)).toMatchObject({ stderr: 'No events are kept.\n', exitCode: 0 })
      expect(stub?.connections).toHaveLength(1)
    })

    it.each([
      ['--since x', '--since takes the id of an event, a whole number'],
      ['--follow --limit 3', '--limit and --all are for what is kept; --follow shows all that comes'],
      ['--limit 0', '--limit must be at least 1'],
    ])('refuses %s', async (flags, message) => {
      await serving(1, ({ send }) => send(frames(1, 1)))
      const result = await ctl(`nodes events ${NODE_ID} ${flags}`)
      expect(result.exitCode).toBe(2)
      expect(result.stderr).toContain(message)
    })

    it('ends with the problem of a refusal, and its exit code', async () => {
      stub = await startEventStub(({ refuse }) =>
        refuse(403, { code: 'permission_denied', status: 403, detail: 'No.' }),
      )
      expect((await ctl(`nodes events ${NODE_ID}`)).exitCode).toBe(5)
      expect((await ctl(`nodes events ${NODE_ID} --follow`)).exitCode).toBe(5)
    })

    it('takes everything at its word without --verify, what is no envelope as text', async () => {
      await serving(1, ({ send }) =>
        send(`id: 5\nevent: x\ndata: hello\n\n${frameOf(vector(THIEF, { node_seq: 1 }), 10)}`),
      )
      const { stdout, exitCode } = await ctl(`nodes events ${NODE_ID} --jq .[0]`)
      expect([JSON.parse(stdout), exitCode]).toEqual([{ id: '5', event: 'x', data: 'hello' }, 0])
    })

    it('verifies, names what is wrong on stderr, and exits 10', async () => {
      const [one, two, three, five] = [event(1), event(2), event(3), event(5)]
      const lies = [
        frameOf(one, 10),
        frameOf(vector(THIEF, { node_seq: 2 }), 11),
        frameOf({ ...two, wire: two.wire.replace('changed', 'changes') }, 12),
        frameOf({ ...two, wire: two.wire.replace('{', '{ ') }, 13),
        frameOf({ ...two, wire: two.wire.slice(0, -3) }, 14),
        frameOf(vector(vectorKey('key-9', 7), { node_seq: 2 }), 15),
        frameOf(vector(KEY, { node_seq: 2, node_id: '0197a000-0000-7000-8000-00000000a002' }), 16),
        frameOf(two, 17, 'policy_updated'),
        frameOf(two, 'x18'),
        frameOf(one, 19),
        frameOf(three, 30),
        frameOf(two, 31),
        frameOf(five, 50),
      ]
      await serving(5, ({ send }) => send(lies.join('')))
      const { stdout, stderr, exitCode } = await ctl(`nodes events ${NODE_ID} --verify --jq .[].verdict`)
      expect(stdout.trimEnd().split('\n')).toEqual([
        'ok',
        'bad_signature',
        'bad_signature',
        'not_canonical',
        'malformed',
        'unknown_key',
        'wrong_node',
        'type_mismatch',
        'bad_id',
        'duplicate',
        'gap',
        'reordered',
        'gap',
      ])
      expect(stderr).toContain('event 11 has a signature that does not hold (bad_signature)')
      expect(stderr).toContain('event 30 comes without the event before it, number 2')
      expect(exitCode).toBe(10)
    })

    it('exits 0 where everything holds', async () => {
      await serving(3, ({ send }) => send(frames(1, 3)))
      expect(await ctl(`nodes events ${NODE_ID} --verify`)).toMatchObject({ stderr: '', exitCode: 0 })
    })

    it('follows over connections until Ctrl-C, resumes without a gap, and says where to go on', async () => {
      const interrupt = new AbortController()
      await serving(0, ({ send, end }, stream) => {
        send(frames(stream * 2 - 1, stream * 2))
        if (stream < 3) end()
      })
      const running = ctl(`nodes events ${NODE_ID} --follow --verify --since 0`, { interrupted: interrupt.signal })
      await vi.waitFor(
        () => expect(stub?.connections.filter(({ path }) => path.endsWith('events'))).toHaveLength(3),
        15_000,
      )
      await vi.waitFor(() => expect(stub?.open()).toBe(1))
      setTimeout(() => interrupt.abort(), 100)
      const { stdout, stderr, exitCode } = await running
      expect(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { id: string }).id),
      ).toEqual(['10', '20', '30', '40', '50', '60'])
      expect(
        stub?.connections.flatMap(({ path, lastEventId }) => (path.endsWith('events') ? [lastEventId] : [])),
      ).toEqual(['0', '20', '40'])
      expect(stderr).toMatch(/the stream was cut \(ended\); going on after 20, so that nothing is left out, in \d\.\ds/)
      expect(stderr).toContain('Stopped. Go on after it with --since 60.')
      expect(exitCode).toBe(130)
    })
  })

  describe('events verify', () => {
    const keep = (name: string, text: string): void => writeFileSync(join(home.home, name), text)
    const line = (one: Vector, id: number): string => `{"id":"${id}","event":"node_state_updated","data":${one.wire}}\n`
    const other = { node_id: '0197a000-0000-7000-8000-00000000a002' }
    beforeEach(() => keep('keys.json', JSON.stringify({ keys: [KEY.jwk] })))

    it.each([
      ['JSON lines', line(event(1), 10) + line(event(2), 20)],
      ['envelopes alone', `${event(1).wire}\n${event(2).wire}\n`],
      ['data kept as text', `${JSON.stringify({ id: '10', data: event(1).wire })}\n${event(2).wire}\n`],
      ['the stream as curl writes it', `:keep-alive\n\n${frames(1, 2)}:keep-alive\n\nretry: 500\n\n`],
      ['the stream with other line ends', frames(1, 2).replaceAll('\n', '\r\n')],
    ])('takes %s, without a server', async (_name, text) => {
      keep('events', text)
      const result = await ctl('events verify events --keys keys.json -o json')
      expect(result).toMatchObject({ exitCode: 0, stderr: '2 events are intact.\n' })
      expect(JSON.parse(result.stdout)).toEqual({
        verdict: 'intact',
        frames: 2,
        faults: [],
        fault_count: 0,
        nodes: [{ node_id: NODE_ID, first: 1, last: 2 }],
      })
    })

    it('takes what "ctl nodes events" writes, whatever the envelope has in it', async () => {
      const odd = event(1, { payload: { 10: 'a', 9: 'b', reason: 'é\u2028🚀' }, more: { zone: 1e21 } })
      await serving(2, ({ send }) => send(frameOf(odd, 10) + frames(2, 2)))
      keep('events.jsonl', (await ctl(`nodes events ${NODE_ID}`)).stdout)
      expect(await ctl('events verify events.jsonl --keys keys.json')).toMatchObject({ exitCode: 0 })
      expect(await ctl('events verify -', { stdin: event(2).wire })).toMatchObject({ exitCode: 0 })
    })

    it('follows the events of several nodes in one file', async () => {
      keep('events', [event(1), event(7, other), event(2), event(8, other)].map(({ wire }) => `${wire}\n`).join(''))
      expect((await ctl('events verify events --keys keys.json --jq .nodes')).exitCode).toBe(0)
    })

    it('is led over a resync frame of a connection, wherever it is', async () => {
      keep('events', [event(1), event(5, { payload: RESYNC }), event(6)].map(({ wire }) => `${wire}\n`).join(''))
      expect((await ctl('events verify events --keys keys.json')).exitCode).toBe(0)
    })

    it('names each line that is wrong, and exits 10', async () => {
      const lines = [
        event(1).wire,
        'hello',
        '{"cut',
        '{"id":7,"data":{}}',
        signed(THIEF, event(2).canonical).wire,
        event(1).wire,
        event(4).wire,
        event(3).wire,
        frameOf(event(5), 'x').trimEnd(),
        '',
        `data: ${event(6).wire}`,
      ]
      keep('events', lines.join('\n'))
      const { stdout, stderr, exitCode } = await ctl('events verify events --keys keys.json -o json')
      const { faults } = JSON.parse(stdout) as { faults: { line: number; fault: string }[] }
      expect(faults.map(({ line: at, fault }) => [at, fault])).toEqual([
        [2, 'malformed'],
        [3, 'malformed'],
        [4, 'malformed'],
        [5, 'bad_signature'],
        [6, 'duplicate'],
        [7, 'gap'],
        [8, 'reordered'],
        [9, 'bad_id'],
        [13, 'truncated'],
      ])
      expect(stderr).toContain('line 7 comes without the events before it, numbers 2 to 3')
      expect(exitCode).toBe(10)
    })

    it('does not call a file intact that has no event in it', async () => {
      keep('events', '\n\n')
      expect(await ctl('events verify events --keys keys.json')).toMatchObject({ exitCode: 10 })
    })

    it.each([
      ['events verify missing --keys keys.json', 'missing cannot be read (ENOENT)'],
      ['events verify keys.json --keys missing.json', 'missing.json cannot be read (ENOENT)'],
      ['events verify', '<file> is missing'],
    ])('refuses ctl %s', async (argv, message) => {
      const result = await ctl(argv)
      expect(result.exitCode).toBe(2)
      expect(result.stderr).toContain(message)
    })
  })

  describe('api', () => {
    it('prints a stream as it comes, until Ctrl-C', async () => {
      const interrupt = new AbortController()
      await serving(1, ({ send }) => send(frames(1, 2)))
      const running = ctl(`api /nodes/${NODE_ID}/events -H Last-Event-ID:5`, { interrupted: interrupt.signal })
      await vi.waitFor(() => expect(stub?.connections[0]?.lastEventId).toBe('5'))
      setTimeout(() => interrupt.abort(), 100)
      expect(await running).toMatchObject({ stdout: frames(1, 2), exitCode: 130 })
    })

    it('prints a refused stream like any refusal', async () => {
      stub = await startEventStub(({ refuse }) => refuse(404, { code: 'node_not_found', status: 404, detail: 'No.' }))
      const { stdout, exitCode } = await ctl(`api /nodes/${NODE_ID}/events`)
      expect([JSON.parse(stdout), exitCode]).toEqual([{ code: 'node_not_found', status: 404, detail: 'No.' }, 3])
    })
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }
