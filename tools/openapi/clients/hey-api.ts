// A client by hey-api: types and one function for each operation are generated.
import { createClient } from './generated/hey-api/client/index.js'
import {
  createDomain,
  createJoinToken,
  createProject,
  getAuthWhoami,
  getDomainCapacity,
  getNodeEvents,
  listProjects,
  registerNode,
} from './generated/hey-api/sdk.gen.js'
import { adviceFor, runWith, type Given, type Seen } from './steps.js'

await runWith(async ({ url, token, strange, prefix, publicKeys }: Given): Promise<Seen> => {
  const client = createClient({ baseUrl: url, auth: () => token })
  const whoami = await getAuthWhoami({ client })
  const domain = await createDomain({ client, body: { slug: `${prefix}-acme`, display_name: 'Acme' } })
  if (domain.data === undefined) throw new Error(domain.error.code)
  const path = { id: domain.data.id }
  for (const slug of ['one', 'two', 'three']) await createProject({ client, path, body: { slug, display_name: slug } })

  const projects: string[] = []
  let cursor: string | undefined
  do {
    const page = await listProjects({ client, path, query: { limit: 2, ...(cursor !== undefined && { cursor }) } })
    projects.push(...(page.data?.items.map(({ slug }) => slug) ?? []))
    cursor = page.data?.next_cursor ?? undefined
  } while (cursor !== undefined)

  const again = await createDomain({ client, body: { slug: `${prefix}-acme`, display_name: 'Acme' } })
  const later = createClient({ baseUrl: strange, auth: () => token })
  const unknown = await createDomain({ client: later, body: { slug: 'moon', display_name: 'Moon' } })
  const capacity = await getDomainCapacity({ client: later, path: { domain_id: path.id } })

  const join = await createJoinToken({ client, path, body: { max_uses: 2 } })
  const joining = createClient({ baseUrl: url, auth: () => join.data?.token ?? '' })
  const register = (name: string, public_key: string) =>
    registerNode({ client: joining, body: { name, kind: 'vm', public_key } })
  const node = await register('first', publicKeys[0])
  const own = createClient({ baseUrl: url, auth: () => node.data?.nsk ?? '' })
  const { stream } = await getNodeEvents({ client: own, path: { id: node.data?.node_id ?? '' } })
  const first = stream.next()
  await register('second', publicKeys[1])
  const event = (await first).value

  return {
    subject: whoami.data?.subject ?? '',
    projects,
    refused: adviceFor(again.error?.code ?? ''),
    strangeRefusal: adviceFor(unknown.error?.code ?? ''),
    strangeDimension: capacity.data?.dimensions[0]?.dimension ?? '',
    event: event !== undefined && 'type' in event ? String(event.type) : '',
  }
})
