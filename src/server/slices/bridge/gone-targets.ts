import { aboutNode } from '../../ports/outbox-events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OutboxConsumer } from '../../ports/outbox.ts'
import { lockBridge } from '../../bridges/find-bridge.ts'
import { announceBridge, storeConfigs, type HeldBridge } from '../../bridges/update-config.ts'
import { bridgesWithTargets } from './ingress-store.ts'

/**
 * Makes the consumer that drops the ingress rules of deregistered nodes from the configurations of bridges: one
 * `bridge.RelayConfigured` for each bridge. The rules themselves stay (decisions: Sizes).
 */
export function createGoneTargets({ clock }: { readonly clock: Clock }): OutboxConsumer {
  return {
    name: 'bridge-targets',
    async handle(change, events) {
      const gone = events.filter(({ event }) => event === 'peer_deregistered')
      if (gone.length === 0) return
      const nodeIds = gone.map(({ payload }) => aboutNode.parse(payload).node_id)
      const held: HeldBridge[] = []
      for (const bridge of await bridgesWithTargets(change.db, nodeIds))
        if (await lockBridge(change.db, bridge.resourceId)) held.push(bridge)
      for (const bridge of await storeConfigs(change, held, new Date(clock.now())))
        announceBridge(change, bridge, { literal: 'bridge.RelayConfigured', part: 'relay' })
    },
  }
}
