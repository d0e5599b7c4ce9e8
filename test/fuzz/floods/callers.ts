import { enrol, type EnrolledNode } from '../../support/server/replicas.ts'
import type { Victim } from './victim.ts'

/** Who takes part in a flood. Each has limits and audit rows of its own. */
export interface Callers {
  readonly domainId: string
  /** A Domain admin whose requests are part of floods. */
  readonly admin: string
  /** A token of that admin with the scope `meta:read` alone. */
  readonly narrow: string
  /** Somebody else, who reads and writes when a flood is over. */
  readonly bystander: string
  /** A node whose reports are a flood. Its Domain may report `REPORTED_PER_SECOND` bytes. */
  readonly node: EnrolledNode
  /** Another node of that Domain. */
  readonly neighbour: EnrolledNode
}

/** Target of the Domain: far less than a flood brings. */
const REPORTED_PER_SECOND = 100_000

/** Answer to a call, with its body as JSON. */
export interface Called {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly ms: number
}

/** Calls an operation on a connection of its own. Rejects where no answer comes in time. */
export async function call(victim: Victim, token: string, route: string, body?: object): Promise<Called> {
  const [method = '', path = ''] = route.split(' ')
  const startedMs = performance.now()
  const response = await fetch(`http://127.0.0.1:${victim.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Called['body']
  return { status: response.status, body: answer, ms: performance.now() - startedMs }
}

/** How soon an answer counts as one "at once": a machine under load may take seconds where others take milliseconds. */
const CALL_WITHIN_MS = 10_000

/** Makes them, with the token of the bootstrap identity. */
export async function makeCallers(victim: Victim): Promise<Callers> {
  const done = async (route: string, body?: object): Promise<Called['body']> => {
    const answer = await call(victim, victim.root, route, body)
    if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const domainId = String((await done('GET /v1/auth/whoami'))['domain_id'])
  const identity = async (name: string): Promise<string> => {
    const draft = { display_name: name, subject: name }
    const { id } = await done(`POST /v1/domains/${domainId}/service-identities`, draft)
    for (const relation of ['admin', 'auditor'])
      await done(`POST /v1/domains/${domainId}/grants`, { subject: `serviceaccount:${String(id)}`, relation })
    return `service:${String(id)}`
  }
  const token = async (owner: string, scopes: readonly string[]): Promise<string> =>
    String((await done('POST /v1/admin/tokens', { identity_ref: owner, name: 'flood', scopes }))['token'])
  const flooder = await identity('flooder')
  const at = { url: `http://127.0.0.1:${victim.port}` }
  const [node, neighbour] = await enrol(at, { token: victim.root, domainId, nodes: 2 })
  if (node === undefined || neighbour === undefined) throw new Error('no nodes have joined')
  await done(`PUT /v1/domains/${domainId}/capacity/targets`, { observability_ingest: REPORTED_PER_SECOND })
  return {
    domainId,
    admin: await token(flooder, ['*']),
    narrow: await token(flooder, ['meta:read']),
    bystander: await token(await identity('bystander'), ['*']),
    node,
    neighbour,
  }
}
