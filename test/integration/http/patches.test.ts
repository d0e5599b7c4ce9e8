import { afterAll, beforeAll, expect, it } from 'vitest'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { PROJECT } from '../../support/server/fixture-callers.ts'
import { requestBytes, sendRaw } from '../../support/network/raw-socket.ts'

const THING = '01935b5e-8f3a-7c61-9d0a-000000001000'

let server: Edge
beforeAll(async () => {
  server = await startEdge()
  server.fixture.things.push({ id: THING, project_id: PROJECT, slug: 'a', created_at: '2026-03-01T08:00:00.000Z' })
})
afterAll(() => server.app.drain(100))

it.each([
  ['no member', '{}', 'empty_patch', undefined],
  ['no body', '', 'empty_patch', undefined],
  ['no object', '[]', 'invalid_body', undefined],
  ['what cannot change', '{"kind":"x"}', 'invalid_kind', '/kind'],
  ['what cannot change, as null', '{"kind":null}', 'invalid_kind', '/kind'],
  ['what cannot change behind a wrong member', '{"slug":5,"kind":"x"}', 'invalid_kind', '/kind'],
  ['what cannot change beside an unknown member', '{"unknown":1,"kind":"x"}', 'invalid_kind', '/kind'],
])('a patch that names %s is refused: %s', async (_, body, code, pointer) => {
  const headers = {
    Authorization: 'Bearer psk_admin',
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
  }
  const answer = await sendRaw(server.port, requestBytes(`PATCH /v1/fixture/things/${THING}`, headers, body))
  const document: { readonly code: string; readonly errors?: readonly object[] } = JSON.parse(answer.text)
  expect([answer.status, document.code]).toEqual([400, code])
  if (pointer !== undefined) expect(document.errors).toContainEqual({ pointer, detail: 'must not be sent' })
})
