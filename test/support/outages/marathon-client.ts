import { readDocumentedAnswers } from './documented-codes.ts'
import type { Plane } from './plane.ts'

/** A client that changes things all the while, and remembers what was acknowledged. */
export interface MarathonClient {
  /** Answers with a code that the document does not declare for the operation, each once. */
  readonly undocumented: ReadonlySet<string>
  /** How often each answer was given. */
  readonly answers: Readonly<Record<string, number>>
  acknowledged(): number
  /** Ends, and gives what was acknowledged and is not there. */
  finish(): Promise<readonly string[]>
}

const WORKERS = 4
const PAUSE_MS = 200
const DEADLINE_MS = 60_000

interface Request {
  readonly method: string
  /** As the document has it. */
  readonly template: string
  readonly path: string
  readonly body?: object
  readonly token: string
}

export async function startMarathonClient(plane: Plane): Promise<MarathonClient> {
  const { server, token, domainId, projectId, node } = plane
  const documented = await readDocumentedAnswers(server.url, token)
  const acknowledged = new Map<string, string>()
  const undocumented = new Set<string>()
  const answers: Record<string, number> = {}
  const over = new AbortController()

  function note({ method, template }: Request, status: number, code: string | undefined): void {
    const operation = `${method} ${template}`
    const said = `${operation}: ${status} ${code ?? ''}`.trimEnd()
    answers[said] = (answers[said] ?? 0) + 1
    if (!documented.has(operation, status, code)) undocumented.add(said)
  }

  /** The answer; undefined for none in time. */
  async function send(request: Request) {
    const { method, path, body } = request
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${request.token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const answer = (await response.json()) as Readonly<Record<string, unknown>>
    note(request, response.status, response.ok ? undefined : String(answer['code']))
    return { isOk: response.ok, answer }
  }

  /** Keeps what was acknowledged, with the list in which it has to be found. */
  async function change(request: Request, identify: (answer: Readonly<Record<string, unknown>>) => string) {
    const { isOk, answer } = await send(request)
    if (isOk) acknowledged.set(identify(answer), request.template)
  }

  async function round(): Promise<void> {
    const name = `kept-${plane.next()}`
    const projects = { template: '/v1/domains/{id}/projects', path: `/v1/domains/${domainId}/projects`, token }
    await change({ ...projects, method: 'POST', body: { slug: name, display_name: name } }, ({ id }) => String(id))
    const secret = { template: '/v1/projects/{id}/secrets/{name}', path: `/v1/projects/${projectId}/secrets/${name}` }
    await change({ ...secret, token, method: 'PUT', body: { value: name } }, ({ id }) => String(id))
    const sessions = { template: '/v1/projects/{project_id}/sessions', path: `/v1/projects/${projectId}/sessions` }
    const session = { node_id: node.id, kind: 'ssh', target: 'deploy', ttl_seconds: 43_200 }
    await change({ ...sessions, token, method: 'POST', body: session }, ({ session_id: id }) => String(id))
    await send({ method: 'GET', template: '/v1/domains', path: '/v1/domains', token })
    await send({ method: 'GET', template: '/v1/nodes/{id}/state', path: `/v1/nodes/${node.id}/state`, token: node.nsk })
  }

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      await round().catch((error: unknown) => void undocumented.add(`no answer: ${String(error)}`))
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }

  async function listed(path: string): Promise<readonly string[]> {
    const found: string[] = []
    for (let cursor = ''; ;) {
      const page = await fetch(`${server.url}${path}?limit=200${cursor}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      if (!page.ok) throw new Error(`${path}: ${page.status} ${await page.text()}`)
      const { items, next_cursor: next } = (await page.json()) as Page
      for (const item of items) found.push(String(item['session_id'] ?? item['id']))
      if (typeof next !== 'string') return found
      cursor = `&cursor=${encodeURIComponent(next)}`
    }
  }

  const workers = Array.from({ length: WORKERS }, work)
  return {
    undocumented,
    answers,
    acknowledged: () => acknowledged.size,
    async finish() {
      over.abort()
      await Promise.all(workers)
      const lists = [
        `/v1/domains/${domainId}/projects`,
        ...['secrets', 'sessions'].map((of) => `/v1/projects/${projectId}/${of}`),
      ]
      const stored = new Set((await Promise.all(lists.map(listed))).flat())
      return [...acknowledged].flatMap(([id, template]) => (stored.has(id) ? [] : [`${template}: ${id}`]))
    },
  }
}

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor?: string | null
}
