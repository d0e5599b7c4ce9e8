import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { bodyOf } from './answers.ts'
import { BaoError } from './bao-error.ts'
import type { BaoConnection } from './connection.ts'

/** How the server proves who it is. Files are read again at each login, so that a sidecar may replace them. */
export type BaoLogin =
  | { readonly kind: 'token'; readonly tokenFile: string }
  | { readonly kind: 'approle'; readonly mount: string; readonly roleId: string; readonly secretIdFile: string }
  | { readonly kind: 'kubernetes'; readonly mount: string; readonly role: string; readonly jwtFile: string }

/** A token, for as long as it is good. */
export interface Lease {
  readonly token: string
  /** From now on, ms; undefined: it does not end. */
  readonly durationMs: number | undefined
  readonly isRenewable: boolean
}

const Auth = z.object({
  auth: z.object({ client_token: z.string().min(1), lease_duration: z.number(), renewable: z.boolean() }),
})
const Token = z.object({ data: z.object({ ttl: z.number(), renewable: z.boolean().optional() }) })

/** Logs in. @throws BaoError also for a file that cannot be read. */
export async function logIn(connection: BaoConnection, login: BaoLogin): Promise<Lease> {
  if (login.kind === 'token') return lookUp(connection, await secretIn(login.tokenFile))
  const body =
    login.kind === 'approle'
      ? { role_id: login.roleId, secret_id: await secretIn(login.secretIdFile) }
      : { role: login.role, jwt: await secretIn(login.jwtFile) }
  const answer = await connection.send({ method: 'POST', path: `auth/${login.mount}/login`, body })
  // A login that is refused is a 400 of AppRole and a 403 of Kubernetes.
  if (answer.status === 400) throw new BaoError('refused', `the ${login.kind} login is refused (HTTP 400)`)
  return leaseOf(bodyOf(answer, Auth))
}

/** Asks how long a token is good. @throws BaoError for one that is not. */
export async function lookUp(connection: BaoConnection, token: string): Promise<Lease> {
  const answer = await connection.send({ method: 'GET', path: 'auth/token/lookup-self', token })
  const { ttl, renewable = false } = bodyOf(answer, Token).data
  return { token, durationMs: durationOf(ttl), isRenewable: renewable }
}

/** Makes a token good for longer. */
export async function renew(connection: BaoConnection, token: string): Promise<Lease> {
  return leaseOf(
    bodyOf(await connection.send({ method: 'POST', path: 'auth/token/renew-self', token, body: {} }), Auth),
  )
}

function leaseOf({ auth }: z.infer<typeof Auth>): Lease {
  return { token: auth.client_token, durationMs: durationOf(auth.lease_duration), isRenewable: auth.renewable }
}

/** 0 is a token without an end, such as that of root. */
function durationOf(seconds: number): number | undefined {
  return seconds > 0 ? seconds * 1000 : undefined
}

async function secretIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new BaoError('refused', `${path} cannot be read`, error)
  })
  const secret = text.trim()
  // Bytes outside of visible ASCII would be refused by the HTTP library, in an error that repeats them.
  if (/^[\x21-\x7e]+$/.test(secret)) return secret
  throw new BaoError('refused', `${path} does not hold one line of visible characters`)
}
