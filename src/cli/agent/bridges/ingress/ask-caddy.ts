import { request } from 'node:http'
import { systemCode } from '../../errors.ts'
import { ADMIN_HOST } from './caddy-config.ts'

/** A call of Caddy's admin API. */
export interface CaddyCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** JSON. */
  readonly body?: string
}

/** What it answers. */
export interface CaddyAnswer {
  readonly status: number
  readonly text: string
}

/** Milliseconds until an answer. A load waits for the servers of the configuration before. */
const ANSWER_MS_MAX = { GET: 5_000, POST: 30_000 } as const

/** Calls Caddy on its admin socket; undefined where nothing listens. @throws Error where it does not answer in time. */
export function askCaddy(socketPath: string, { method, path, body }: CaddyCall): Promise<CaddyAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const headers = {
      Host: ADMIN_HOST,
      Connection: 'close',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const call = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.once('error', reject)
    })
    call.setTimeout(ANSWER_MS_MAX[method], () => call.destroy(new Error('caddy does not answer on its admin socket')))
    call.once('error', (error) => {
      if (GONE.has(systemCode(error))) resolve(undefined)
      else reject(error)
    })
    call.end(body)
  })
}

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])
