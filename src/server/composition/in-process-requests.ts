import { remintBootstrapToken, type FirstRunDeps } from '../first-run/first-run.ts'
import { createMemoryHandover } from '../first-run/memory-handover.ts'
import type { App } from '../http/app.ts'

const OWN_TOKEN_SECONDS = 3600

/** A request that the server makes to itself. */
export interface InProcessCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly token: string
  readonly body?: object
}

/** Makes the request through every check, without a socket. @throws Error where the answer is no success. */
export async function requestInProcess(
  { fastify }: App,
  { method, path, token, body }: InProcessCall,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` }
  const payload = body === undefined ? {} : { payload: body }
  const response = await fastify.inject({ method, url: path, headers, ...payload })
  if (response.statusCode >= 300) throw new Error(`${method} ${path} answered ${response.statusCode} ${response.body}`)
  return response.json()
}

/** Issues another token to the bootstrap identity. It is handed over in memory alone. */
export async function issueOwnToken(founding: Omit<FirstRunDeps, 'handover'>): Promise<string> {
  const handover = createMemoryHandover()
  await remintBootstrapToken({ ...founding, handover, tokenSeconds: OWN_TOKEN_SECONDS })
  return handover.token()
}
