import { setTimeout as wait } from 'node:timers/promises'
import type { RunningServer } from '../composition/serve.ts'

/** The name of what the demo adds, by which a later start knows that it is there. */
const BUNDLE = 'hetzner-base'
const VERSIONS = ['v1.2', 'v1.3', 'v1.4'] as const
/** Looks for a new bundle, and the pause between two of them. */
const LOOKS_MAX = 100
const LOOK_MS = 100

interface Member {
  readonly id: string
  readonly slug?: string
  readonly domain_id: string
  readonly provider_bundle_slug?: string
}

interface Items {
  readonly items: readonly Member[]
}

type Call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<Member & Items>

/**
 * Adds a catalogue to look at (`--demo`): a bundle with three versions, a Cloud that follows the newest and one that is two
 * behind, a credential, and a request that waits for an approval. A datastore that has the bundle is left as it is.
 */
export async function addDemoCatalogue(server: RunningServer, token: string): Promise<void> {
  const call: Call = async (method, path, body) =>
    (await server.request({ method, path, token, ...(body !== undefined && { body }) })) as Member & Items
  const { items } = await call('GET', '/v1/clouds?limit=200')
  if (items.some(({ provider_bundle_slug }) => provider_bundle_slug === BUNDLE)) return
  const bundleId = await addBundle(call)
  const cloud = { provider: 'hetzner', provider_bundle_id: bundleId, endpoint: {} }
  const newest = { ...cloud, slug: 'eu1', display_name: 'Europe 1', region_defaults: { location: 'fsn1' } }
  const { id: cloudId } = await call('POST', '/v1/clouds', newest)
  await call('POST', '/v1/clouds', { ...cloud, slug: 'us1', display_name: 'America 1', provider_bundle_version: 1 })
  const credential = { display_name: 'demo', secret: { token: 'not-a-real-token' } }
  await call('POST', `/v1/clouds/${cloudId}/credentials`, credential)
  await requestCloud(call, cloudId)
}

/** Adds the bundle and resolves with its id. */
async function addBundle(call: Call): Promise<string> {
  const [first, ...later] = VERSIONS.map((version) => ({ provider_packages: [{ source: SOURCE, version }] }))
  const { id } = await call('POST', '/v1/provider-bundles', {
    slug: BUNDLE,
    display_name: 'Hetzner base',
    provider: 'hetzner',
    provider_config_api_version: 'v1beta1',
    ...first,
  })
  await untilListed(call)
  for (const content of later) await call('PATCH', `/v1/provider-bundles/${id}`, content)
  return id
}

/**
 * Waits for the roles on the new bundle, which takes the outbox a moment (S1 Provider bundles 1). The list shows the bundle once they are
 * there; a change before that would be refused, and the log would show the refusal.
 *
 * @throws Error where the roles are not there after ten seconds.
 */
async function untilListed(call: Call): Promise<void> {
  for (let looks = 1; looks <= LOOKS_MAX; looks++) {
    const { items } = await call('GET', '/v1/provider-bundles?limit=200')
    if (items.some(({ slug }) => slug === BUNDLE)) return
    await wait(LOOK_MS)
  }
  throw new Error(`the bundle ${BUNDLE} of the demo has no roles after ${(LOOKS_MAX * LOOK_MS) / 1000} s`)
}

/** Requests the Cloud for the first Project of the caller's Domain. */
async function requestCloud(call: Call, cloudId: string): Promise<void> {
  const { domain_id: domainId } = await call('GET', '/v1/auth/whoami')
  const { items } = await call('GET', `/v1/domains/${domainId}/projects`)
  const [project] = items
  if (project !== undefined) await call('POST', `/v1/projects/${project.id}/cloud-assignments`, { cloud_id: cloudId })
}

const SOURCE = 'oci://registry.example/provider-hetzner'
