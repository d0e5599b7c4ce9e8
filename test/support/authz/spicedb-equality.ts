import { bindingKey, bindingOf } from '../../../src/server/adapters/spicedb/names.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import { SERVICE_MODEL } from '../../../src/shared/authz/service-model.ts'
import { clientOf } from './engines.ts'
import type { SpicedbServer } from './spicedb-server.ts'

/** Both sides in one form: `resource#relation@subject#set[caveat]`, sorted; the registry's with a state that is not `live`. */
export interface BothSides {
  readonly registry: readonly string[]
  readonly spicedb: readonly string[]
}

export async function bothSides(datastore: Datastore, server: SpicedbServer): Promise<BothSides> {
  const rows = await datastore.pool('interactive').selectFrom('relation_tuples').selectAll().execute()
  const registry = rows.map((row) => {
    return `${bindingKey(row)}[${row.caveat_name}]${row.state === 'live' ? '' : ` ${row.state}`}`
  })
  return { registry: registry.toSorted(), spicedb: (await relationshipsIn(server)).toSorted() }
}

async function relationshipsIn(server: SpicedbServer): Promise<string[]> {
  const client = clientOf(server)
  const all: string[] = []
  for (const { name } of SERVICE_MODEL.types) {
    for await (const page of client.relationships(name)) {
      for (const each of page) {
        const binding = bindingOf(SERVICE_MODEL, each)
        all.push(binding === undefined ? JSON.stringify(each) : `${bindingKey(binding)}[${each.caveat}]`)
      }
    }
  }
  client.close()
  return all
}
