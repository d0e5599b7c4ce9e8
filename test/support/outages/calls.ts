import { heartbeatOf, type ApiCall } from '../server/replicas.ts'
import type { Plane } from './plane.ts'

/** The sentence of each code that the table names: fixed, without anything of the failure behind it. */
export const SENTENCES: Readonly<Record<string, string>> = {
  authz_unavailable: 'Authorization cannot be decided right now; retry shortly.',
  datastore_unavailable: 'The datastore cannot be reached right now; retry shortly.',
  event_stream_unavailable:
    'Events cannot be streamed right now; retry shortly. The state of a node can still be read.',
  secret_store_unavailable: 'The secret store cannot be used right now; retry shortly.',
  signing_unavailable: 'The signing service cannot be reached right now; retry shortly.',
  internal: 'The server failed; its log has the reason under this correlation id.',
}

type Call = (plane: Plane) => Promise<string>

const api =
  (callOf: (plane: Plane) => ApiCall): Call =>
  (plane) =>
    answerOf(plane, callOf(plane))

const checkOf =
  (body: (plane: Plane) => object): ((plane: Plane) => ApiCall) =>
  (plane) => ({
    token: plane.token,
    method: 'POST',
    path: '/v1/authz/check',
    body: { subject: plane.subject, relation: 'read', resource: `domain:${plane.domainId}`, ...body(plane) },
  })

/** What people and agents do, by the words of the table. */
export const CALLS: Readonly<Record<string, Call>> = {
  'a check asked a moment ago': api(checkOf(() => ({}))),
  'any other check': api(checkOf(() => ({ resource: `domain:${crypto.randomUUID()}` }))),
  'a check with a caveat context': api(checkOf(() => ({ caveat_context: { source_address: null } }))),
  'a lookup of objects': api(({ token, subject }) => ({
    token,
    method: 'POST',
    path: '/v1/authz/lookup-resources',
    body: { subject, relation: 'read', resource_type: 'domain' },
  })),
  'a lookup of subjects': api(({ token, domainId }) => ({
    token,
    method: 'POST',
    path: '/v1/authz/lookup-subjects',
    body: { resource: `domain:${domainId}`, relation: 'read', subject_type: 'serviceaccount' },
  })),
  'a list': api(({ token }) => ({ token, path: '/v1/domains' })),
  'a change': api(({ token, domainId, next }) => ({
    token,
    method: 'POST',
    path: `/v1/domains/${domainId}/projects`,
    body: { slug: `change-${next()}`, display_name: 'A change' },
  })),
  'a deletion': api(({ token, domainId }) => ({
    token,
    method: 'DELETE',
    path: `/v1/domains/${domainId}/grants/${crypto.randomUUID()}`,
  })),
  'a heartbeat': api(({ node }) => heartbeatOf(node)),
  'a pull of state that was pulled before': api(({ node }) => stateOf(node)),
  'a first pull of state': async (plane) => {
    const { node, pulled } = plane.newcomer()
    const answer = await answerOf(plane, stateOf(node))
    if (answer === '200') pulled()
    return answer
  },
  'a secret read by a node': api(({ node, secretRef }) => ({
    token: node.nsk,
    path: `/v1/nodes/${node.id}/secrets?ref=${encodeURIComponent(secretRef)}`,
  })),
  'a secret written': api(({ token, projectId, next }) => ({
    token,
    method: 'PUT',
    path: `/v1/projects/${projectId}/secrets/written-${next()}`,
    body: { value: 'another key' },
  })),
  'a session issued': api(({ token, projectId, node }) => ({
    token,
    method: 'POST',
    path: `/v1/projects/${projectId}/sessions`,
    body: { node_id: node.id, kind: 'ssh', target: 'deploy' },
  })),
  'a new event stream': async (plane) => {
    const response = await plane.openStream()
    if (response.status !== 200) return worded(response, await response.json())
    await response.body?.cancel().catch(() => undefined)
    return '200'
  },
  'an open event stream': async (plane) => (plane.isStreamOpen() ? 'stays open' : 'has ended'),
  '`/readyz`': async ({ server }) => {
    const response = await fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(30_000) })
    const { status, probes } = (await response.json()) as Readiness
    const away = probes.filter(({ ok }) => !ok).map(({ name, informational }) => nameOf(name, informational))
    return [`${response.status} \`${status}\``, ...(away.length === 0 ? [] : [away.join(', ')])].join(': ')
  },
  '`/livez`': async ({ server }) => String((await fetch(`${server.url}/livez`)).status),
}

interface Readiness {
  readonly status: string
  readonly probes: readonly { readonly name: string; readonly ok: boolean; readonly informational?: boolean }[]
}

/** A failure of what was there before is informational (S1 Degradation 1). */
const nameOf = (name: string, informational: boolean | undefined): string =>
  informational === true ? `\`${name}\`` : `\`${name}\`, which blocks`

const stateOf = ({ id, nsk }: { readonly id: string; readonly nsk: string }): ApiCall => ({
  token: nsk,
  path: `/v1/nodes/${id}/state`,
})

async function answerOf({ server }: Plane, { token, method = 'GET', path, body }: ApiCall): Promise<string> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  return worded(response, response.status >= 400 ? JSON.parse(text) : {})
}

/** The answer as the table says it. What differs from a plain answer of its kind is in it too, so that no row fits. */
function worded({ status, headers }: Response, body: unknown): string {
  const { code, detail } = body as { readonly code?: string; readonly detail?: string }
  const isDegraded = headers.get('x-service-degraded') !== null
  if (status < 400) return isDegraded ? `${status} with \`X-Service-Degraded\`` : String(status)
  const retryAfter = headers.get('retry-after')
  const oddities = [
    ...(retryAfter === null ? [] : [`Retry-After: ${retryAfter}`]),
    ...(headers.get('content-type') === 'application/problem+json' ? [] : [String(headers.get('content-type'))]),
    ...(code === undefined || status < 500 || SENTENCES[code] === detail ? [] : [String(detail)]),
  ]
  return [`${status} \`${code}\``, ...oddities].join(', ')
}
