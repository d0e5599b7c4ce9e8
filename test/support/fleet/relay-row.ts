import type { Insertable } from 'kysely'
import type { Tables } from '../../../src/server/ports/tables/tables.ts'

/** The row of an enabled relay, for tests that need no configuration of its bridge. */
export function relayRow(resourceId: string, domainId: string): Insertable<Tables['bridge_relays']> {
  const at = new Date(0)
  return {
    resource_id: resourceId,
    domain_id: domainId,
    enabled: true,
    listen_port: 51_821,
    created_at: at,
    updated_at: at,
  }
}
