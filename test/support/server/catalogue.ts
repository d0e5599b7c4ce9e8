import { createTupleConsumer } from '../../../src/server/authz-sync/tuple-consumer.ts'
import { tupleConsumer } from '../../../src/server/slices/provider-bundles/event-tuples.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import type { TestStore } from '../datastores/stores.ts'
import type { Answer } from './control-plane.ts'
import { startTenancy, type Tenancy } from './tenancy.ts'

type Members = Readonly<Record<string, unknown>>

/** A tenancy with Clouds and provider bundles. The grants of bundles are written when the test says so. */
export interface Catalogue extends Tenancy {
  /** Creates a bundle as the administrator, or as `as`, and writes its grants. Returns its id. */
  bundle(members?: Members, as?: string): Promise<string>
  /** Publishes versions until the bundle has `latest` of them. */
  publish(bundleId: string, latest: number): Promise<void>
  /** Creates a Cloud as the administrator and returns its id. It has packages of its own unless the members say otherwise. */
  cloud(members?: Members): Promise<string>
  /** What GET shows of a Cloud. */
  shown(cloudId: string): Promise<Members>
  /** Runs the consumer that writes the grants of bundles over everything that was announced so far. */
  writeGrants(): Promise<void>
  /** The context of the audit row of an answer's request. */
  context(of: Answer): Promise<Members>
}

/** A package of that version, of a source that the name tells apart. */
export const pack = (name: string, version = 'v1') => ({ source: `oci://registry.example/${name}`, version })

/** So many packages, source-ascending. */
export const packs = (count: number, version = 'v1') =>
  Array.from({ length: count }, (_, index) => pack(`p${String(index).padStart(2, '0')}`, version))

export const INLINE = { provider_packages: [pack('own')], provider_config_api_version: 'v1beta1' }

export async function startCatalogue(store: TestStore, spicedb?: SpicedbServer): Promise<Catalogue> {
  const tenancy = await startTenancy(store, { surfaces: ['clouds', 'providerBundles'] }, spicedb)
  const consumer = createTupleConsumer(tupleConsumer)
  let count = 0

  const create = async (as: string, path: string, members: Members): Promise<string> => {
    count += 1
    const body = { slug: `c-${count}`, display_name: 'C', provider: 'hetzner', ...members }
    const answer = await tenancy.call(as, `POST ${path}`, body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return String(answer.body['id'])
  }

  const writeGrants = async (): Promise<void> => {
    const rows = await tenancy.db.selectFrom('outbox').selectAll().where('event', 'like', 'ProviderBundle%').execute()
    const events = rows.map(({ event, domain_id, aggregate, payload, correlation_id, occurred_at }, index) => ({
      seq: BigInt(index + 1),
      event,
      domainId: domain_id,
      aggregate,
      payload,
      correlationId: correlation_id,
      occurredAt: occurred_at,
    }))
    await tenancy.change((change) => consumer.handle(change, events))
  }

  return {
    ...tenancy,
    writeGrants,
    async bundle(members, as = tenancy.root) {
      const content = { provider_packages: [pack('base')], provider_config_api_version: 'v1beta1' }
      const id = await create(as, '/v1/provider-bundles', { ...content, ...members })
      await writeGrants()
      return id
    },
    async publish(bundleId, latest) {
      for (let version = 2; version <= latest; version++) {
        const body = { provider_packages: [pack('base', `v${version}`)] }
        const answer = await tenancy.call(tenancy.root, `PATCH /v1/provider-bundles/${bundleId}`, body)
        if (answer.body['latest_version'] !== version) throw new Error(JSON.stringify(answer.body))
      }
    },
    cloud: (members = INLINE) => create(tenancy.root, '/v1/clouds', { endpoint: {}, ...members }),
    async shown(cloudId) {
      return (await tenancy.call(tenancy.root, `GET /v1/clouds/${cloudId}`)).body
    },
    async context(of) {
      const correlationId = of.headers.get('x-correlation-id') ?? ''
      const query = tenancy.db.selectFrom('audit').select('context').where('correlation_id', '=', correlationId)
      const stored = await query.executeTakeFirst()
      return stored?.context ?? tenancy.audited.find((row) => row.correlationId === correlationId)?.context ?? {}
    },
  }
}
