// A client by openapi-typescript and openapi-fetch: types alone are generated.
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/schema.js'
import { adviceFor, runWith, type Given, type Seen } from './steps.js'

type EventEnvelope = components['schemas']['EventEnvelope']

await runWith(async ({ url, token, strange, prefix, publicKeys }: Given): Promise<Seen> => {
  const headers = { authorization: `Bearer ${token}` }
  const client = createClient<paths>({ baseUrl: url, headers })
  const whoami = await client.GET('/v1/auth/whoami')
  const domain = await client.POST('/v1/domains', { body: { slug: `${prefix}-acme`, display_name: 'Acme' } })
  if (domain.data === undefined) throw new Error(domain.error.code)
  const path = { id: domain.data.id }
  for (const slug of ['one', 'two', 'three'])
    await client.POST('/v1/domains/{id}/projects', { params: { path }, body: { slug, display_name: slug } })

  const projects: string[] = []
  let cursor: string | undefined
  do {
    const query = { limit: 2, ...(cursor !== undefined && { cursor }) }
    const page = await client.GET('/v1/domains/{id}/projects', { params: { path, query } })
    projects.push(...(page.data?.items.map(({ slug }) => slug) ?? []))
    cursor = page.data?.next_cursor ?? undefined
  } while (cursor !== undefined)

  const again = await client.POST('/v1/domains', { body: { slug: `${prefix}-acme`, display_name: 'Acme' } })
  const later = createClient<paths>({ baseUrl: strange, headers })
  const unknown = await later.POST('/v1/domains', { body: { slug: 'moon', display_name: 'Moon' } })
  const capacity = await later.GET('/v1/domains/{domain_id}/capacity', { params: { path: { domain_id: path.id } } })

  const join = await client.POST('/v1/domains/{id}/join-tokens', { params: { path }, body: { max_uses: 2 } })
  const register = (name: string, public_key: string) =>
    client.POST('/v1/nodes/register', {
      headers: { authorization: `Bearer ${join.data?.token ?? ''}` },
      body: { name, kind: 'vm', public_key },
    })
  const node = await register('first', publicKeys[0])
  const stream = await client.GET('/v1/nodes/{id}/events', {
    params: { path: { id: node.data?.node_id ?? '' } },
    headers: { authorization: `Bearer ${node.data?.nsk ?? ''}` },
    parseAs: 'stream',
  })
  await register('second', publicKeys[1])
  const event = await firstEvent(stream.data ?? undefined)

  return {
    subject: whoami.data?.subject ?? '',
    projects,
    refused: adviceFor(again.error?.code ?? ''),
    strangeRefusal: adviceFor(unknown.error?.code ?? ''),
    strangeDimension: capacity.data?.dimensions[0]?.dimension ?? '',
    event: event.type,
  }
})

/** Reads frames until one has data. */
async function firstEvent(body: unknown): Promise<EventEnvelope> {
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  for (let text = ''; ;) {
    const { value, done } = await reader.read()
    if (done) throw new Error('the stream ended')
    text += decoder.decode(value, { stream: true })
    const [, data] = /^data: (\{.*\})\n/m.exec(text) ?? []
    if (data !== undefined) return JSON.parse(data) as EventEnvelope
  }
}
