import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCtl, type CtlProcess } from '../server/ctl-process.ts'
import { callServer, enrol, type ApiCall, type EnrolledNode } from '../server/replicas.ts'

/** A server with everything that the calls of the table need. */
export interface Plane {
  readonly server: CtlProcess
  readonly token: string
  readonly subject: string
  readonly domainId: string
  readonly projectId: string
  /** Pulls its state, holds a stream, and hosts a bridge that names a secret. */
  readonly node: EnrolledNode
  /** One that has not pulled its state yet, until `pulled` is called. */
  newcomer(): { readonly node: EnrolledNode; readonly pulled: () => void }
  /** Of the secret that the bridge names. */
  readonly secretRef: string
  openStream(): Promise<Response>
  isStreamOpen(): boolean
  /** A number that no call has had. */
  next(): number
  enrolOne(): Promise<unknown>
  stop(): Promise<void>
}

/** What was cached before an outage lasts for all of it, however slow the machine is. */
const LONG_CACHES = { AUTHZ_CHECK_STALE_TTL: '10m', SERVICE_STATE_STALE_TTL: '10m' }

/** Nodes that have not pulled their state: each call of a well server takes one. */
const NEWCOMERS = 40

/** `env` names the datastore and whatever else the server depends on. */
export async function startPlane(folder: string, env: Readonly<Record<string, string>>): Promise<Plane> {
  const tokenFile = join(folder, 'bootstrap')
  const server = await startCtl({
    args: ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', tokenFile],
    env: { ...LONG_CACHES, ...env },
  })
  const token = readFileSync(tokenFile, 'utf8').trim()
  const make = maker(server, token)
  const { body: me } = await callServer(server, { token, path: '/v1/auth/whoami' })
  const domainId = String(me['domain_id'])
  const [node, ...newcomers] = await enrol(server, { token, domainId, nodes: 1 + NEWCOMERS })
  if (node === undefined) throw new Error('no nodes were enrolled')
  const hosting = await hostBridge(make, { domainId, nodeId: node.id })
  const openStream = (): Promise<Response> =>
    fetch(`${server.url}/v1/nodes/${node.id}/events`, {
      headers: { authorization: `Bearer ${node.nsk}` },
      signal: AbortSignal.timeout(1_200_000),
    })
  let count = 0
  return {
    server,
    token,
    subject: String(me['subject']),
    domainId,
    ...hosting,
    node,
    newcomer: takerOf(newcomers),
    openStream,
    isStreamOpen: followed(await openStream()),
    next: () => (count += 1),
    enrolOne: () => enrol(server, { token, domainId, nodes: 1 }),
    stop: async () => void (await server.end('SIGTERM')),
  }
}

/** The last one is given again and again. */
function takerOf(nodes: readonly EnrolledNode[]): Plane['newcomer'] {
  let index = 0
  return () => {
    const at = Math.min(index, nodes.length - 1)
    const node = nodes[at]
    if (node === undefined) throw new Error('no nodes were enrolled')
    return { node, pulled: () => void (index = at + 1) }
  }
}

/** Tells whether the stream is open still. */
function followed({ body }: Response): () => boolean {
  let isOpen = true
  void body
    ?.pipeTo(new WritableStream())
    .finally(() => {
      isOpen = false
    })
    .catch(() => undefined)
  return () => isOpen
}

type Make = (call: Omit<ApiCall, 'token'>) => Promise<Readonly<Record<string, unknown>>>

function maker(server: CtlProcess, token: string): Make {
  return async (call) => {
    const { status, body } = await callServer(server, { token, ...call })
    if (status >= 400) throw new Error(`${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`)
    return body
  }
}

/** A Project with a secret, and a bridge on the node whose configuration names that secret. */
async function hostBridge(
  make: Make,
  { domainId, nodeId }: { readonly domainId: string; readonly nodeId: string },
): Promise<Pick<Plane, 'projectId' | 'secretRef'>> {
  const domain = await make({ path: `/v1/domains/${domainId}` })
  const ofProject = { slug: 'site', display_name: 'Site' }
  const project = await make({ method: 'POST', path: `/v1/domains/${domainId}/projects`, body: ofProject })
  const projectId = String(project['id'])
  await make({ method: 'PUT', path: `/v1/projects/${projectId}/secrets/vpn`, body: { value: 'a key' } })
  const ofBridge = { kind: 'bridge', slug: 'bridge', display_name: 'Bridge', host_node_ids: [nodeId] }
  const bridge = await make({ method: 'POST', path: `/v1/projects/${projectId}/resources`, body: ofBridge })
  const secretRef = `secret:${String(domain['slug'])}/site/vpn`
  await make({
    method: 'POST',
    path: `/v1/projects/${projectId}/resources/${String(bridge['id'])}/bridge/site-to-site`,
    body: {
      slug: 'tunnel',
      kind: 'wireguard',
      remote_host: 'vpn.example.org',
      remote_port: 51_820,
      auth_secret_ref: secretRef,
      allowed_subnets: ['10.20.0.0/16'],
      routing_policy: 'bidirectional',
    },
  })
  return { projectId, secretRef }
}
