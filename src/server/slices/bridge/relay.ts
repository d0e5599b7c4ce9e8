import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Relay } from '../../bridges/bridge-parts.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { bridgeOf, publish, writePart, type Held } from './change-bridge.ts'
import { claimPort } from './claims.ts'
import { findRelay, putRelay, type RelayRecord } from './relay-store.ts'

type RelayAnswer = Result<(typeof bridge)['operations']['GetBridgeRelay']>

/** Serves the relay of a bridge. */
export function createRelay({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof bridge>, 'GetBridgeRelay' | 'ConfigureBridgeRelay'> {
  const db = () => datastore.pool('interactive')
  return {
    async GetBridgeRelay(ctx, path) {
      const { resourceId } = await bridgeOf(ctx, db(), path)
      const relay = await findRelay(db(), resourceId)
      if (relay === undefined) throw problem('bridge_relay_not_found')
      return toAnswer(relay)
    },

    async ConfigureBridgeRelay(ctx, { body: value, ...path }) {
      const intent = { candidate: { part: 'relay', value } } as const
      return toAnswer(await writePart({ ctx, path, datastore }, intent, (held) => configure(held, value)))
    },
  }
}

/** Stores and publishes the relay, unless it is as wanted already. */
async function configure(held: Held, { enabled, listen_port }: Relay): Promise<RelayRecord> {
  const { change, bridge, at } = held
  const { resourceId: resource_id, domainId: domain_id } = bridge
  const former = await findRelay(change.db, resource_id)
  if (former?.enabled === enabled && former.listen_port === listen_port) return former
  await claimPort(change.db, bridge, { owner: 'relay', port: listen_port })
  const row = { resource_id, domain_id, enabled, listen_port, created_at: at, updated_at: at }
  const stored = await putRelay(change.db, row)
  await publish(held, { literal: 'bridge.RelayConfigured', part: 'relay' })
  return stored
}

function toAnswer({ resource_id, enabled, listen_port, created_at, updated_at }: RelayRecord): RelayAnswer {
  return {
    resource_id,
    enabled,
    listen_port,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
