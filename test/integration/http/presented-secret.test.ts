import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { mounted } from '../../../src/server/http/request-context.ts'
import { defineSurface, open, type Operation } from '../../../src/shared/contract/operation.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'

const operation = {
  method: 'GET',
  summary: 'Answer with what was presented',
  credentials: ['nsk'],
  gate: open('a fixture: whoever is known'),
  audit: { none: 'a fixture' },
  responses: { 200: z.object({ presented: z.string() }) },
  problems: [],
} as const satisfies Omit<Operation, 'path'>

const surface = defineSurface('secrets', 'Secrets', {
  GetSealed: { ...operation, path: '/v1/sealed', sealsToSecret: true },
  GetPlain: { ...operation, path: '/v1/plain' },
})

let edge: Edge
beforeAll(async () => {
  edge = await startEdge({
    surfaces: [
      mounted(surface, {
        GetSealed: (ctx) => ({ presented: ctx.presentedSecret() }),
        GetPlain: (ctx) => ({ presented: ctx.presentedSecret() }),
      }),
    ],
  })
})
afterAll(() => edge?.app.drain(1_000))

async function ask(path: string): Promise<readonly [number, unknown]> {
  const headers = { authorization: 'Bearer nsk_own' }
  const response = await fetch(`http://127.0.0.1:${edge.port}${path}`, { headers })
  return [response.status, await response.json()]
}

it('a handler whose contract says so is given the secret that was presented', async () => {
  expect(await ask('/v1/sealed')).toEqual([200, { presented: 'nsk_own' }])
})

it('no other handler gets it: the answer is 500, and holds nothing of it', async () => {
  const [status, body] = await ask('/v1/plain')
  expect([status, JSON.stringify(body).includes('nsk_own')]).toEqual([500, false])
})
