import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'

const PATIENCE_MS = 1_000

/** Whether a ctl server answers at `host:port`: each of its answers names the versions of its API (S1 Versioning 5). */
export async function isCtlServer(authority: string): Promise<boolean> {
  const answers = [
    versionsFrom(requestPlain, `http://${authority}/v1/auth/whoami`),
    versionsFrom(requestSecure, `https://${authority}/v1/auth/whoami`),
  ]
  return (await Promise.all(answers)).some((versions) => versions !== undefined)
}

/** Asks once. Any failure means that it is no ctl server. No secret is sent. */
function versionsFrom(request: typeof requestPlain | typeof requestSecure, url: string): Promise<unknown> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    request(url, { signal, rejectUnauthorized: false }, (answer) => {
      resolve(answer.headers['x-service-api-version'])
      answer.destroy()
    })
      .on('error', () => resolve(undefined))
      .end()
  })
}
