import { createServer, type RequestListener, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { lookAtServer } from '../../../../../src/cli/agent/doctor/look-at-server.ts'
import { placeOf } from '../../../../../src/cli/agent/place.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

/** Half a second into it, as the server's date is on average. */
const NOW = Date.parse('2026-02-01T12:00:00.500Z')

describe('the doctor on the server of a node', () => {
  let server: Server | undefined

  afterEach(async () => {
    server?.close()
    if (server !== undefined) await once(server, 'close')
    server = undefined
  })

  async function found(answer: RequestListener) {
    server = createServer((request, response) => {
      response.sendDate = false
      answer(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return look(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }

  async function look(url: string) {
    const system = {
      run: () => Promise.reject(new Error('nothing is run')),
      path: '',
      tun: '',
      hostsFile: '',
      modulesFolder: '',
      modulesList: '',
      nowMs: () => NOW,
    }
    const state = { ...enrolledState(), server: { url } }
    const findings = await lookAtServer({ system, place: placeOf('/var/lib/ctl-agent'), state, userAgent: 'ctl/test' })
    return Object.fromEntries(findings.map(({ check, status, detail }) => [check, `${status}: ${detail}`]))
  }

  const answers =
    (status: number, { date = '2026-02-01T12:00:00Z', body = '{}' } = {}): RequestListener =>
    (_, response) =>
      response
        .writeHead(status, { 'x-service-api-version': 'current=v1', date: new Date(date).toUTCString() })
        .end(body)

  test('pulls the state with the key of the node', async () => {
    const seen: unknown[] = []
    const { key, clock } = await found((request, response) => {
      seen.push(request.method, request.url, request.headers.authorization)
      answers(200)(request, response)
    })
    expect(seen).toEqual([
      'GET',
      '/v1/nodes/0197a000-0000-7000-8000-000000000001/state',
      `Bearer ${enrolledState().enrolment.nsk}`,
    ])
    expect([key, clock]).toEqual(['ok: the server accepts the key of this node', 'ok: agrees with the server'])
  })

  test('finds a refused key', async () => {
    const { server: seen, key } = await found(answers(401, { body: '{"code":"nsk_revoked"}' }))
    expect(seen).toMatch(/^ok: /)
    expect(key).toBe('problem: the server refuses the key of this node (nsk_revoked)')
  })

  test.each([
    ['2026-02-01T12:00:05Z', 'ok: agrees with the server'],
    ['2026-02-01T11:59:30Z', 'warning: 30 s ahead of the server'],
    ['2026-02-01T13:00:00Z', 'problem: 3600 s behind the server, which takes no heartbeat from so far off'],
  ])('compares the clock with %s', async (date, expected) => {
    expect((await found(answers(200, { date })))['clock']).toBe(expected)
  })

  test('leaves the key open where the server is ill, and finds another server', async () => {
    const ill = await found(answers(503, { body: '{"code":"unavailable"}' }))
    expect(ill).toMatchObject({
      server: expect.stringMatching(/^warning: .* answers 503$/),
      key: 'skipped: the server answers 503 (unavailable)',
    })
    server?.close()
    const other = await found((_, response) => response.end('It works!'))
    expect(other).toMatchObject({
      server: expect.stringMatching(/^problem: what answers at .* is no ctl server \(status 200\)$/),
      key: 'skipped: no answer of a ctl server',
    })
  })

  test('finds nothing where nothing listens', async () => {
    expect(await look('http://127.0.0.1:9')).toEqual({
      server: 'problem: http://127.0.0.1:9 could not be asked: no connection (ECONNREFUSED)',
      key: 'skipped: no answer',
      clock: 'skipped: no answer',
    })
  })
})
