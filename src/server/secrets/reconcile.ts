import type { Clock, IdSource } from '../ports/clock.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { SecretStore } from '../ports/secret-store.ts'
import { LEASE_MS } from './secret-writes.ts'
import * as store from './store.ts'

export interface ReconcileDeps {
  readonly clock: Clock
  readonly ids: IdSource
  readonly secretStore: SecretStore
}

const EVERY_MS = 5_000
const INTENTS_MAX = 50

/**
 * The job that discards interrupted writes of secrets and destroys what changes left behind. While the store cannot be
 * used it fails and touches nothing: everything is still due afterwards (S1 Degradation 5).
 */
export function createSecretsReconcile(deps: ReconcileDeps): LeaderJob {
  const { clock, secretStore } = deps
  return {
    name: 'secrets-reconcile',
    everyMs: EVERY_MS,
    async run(leading) {
      const due = await leading.transaction((tx) => store.dueIntents(tx, new Date(clock.now()), INTENTS_MAX))
      if (due.length === 0) return false
      await secretStore.ping()
      for (const intent of due) {
        if (leading.signal.aborted) return false
        await end(leading, intent, deps)
      }
      return due.length === INTENTS_MAX
    },
  }
}

/** Ends one intent. A failure in the middle is repeated once the lease is over, which does no harm. */
async function end(leading: Leading, intent: store.Intent, { clock, ids, secretStore }: ReconcileDeps): Promise<void> {
  const id = ids.next()
  const due_at = new Date(clock.now() + LEASE_MS)
  const taken = await leading.transaction((tx) => store.takeOver(tx, intent.id, { id, due_at, is_abandoned: false }))
  if (!taken) return
  await (intent.kind === 'put' ? discard(secretStore, intent) : destroy(secretStore, intent))
  await leading.transaction((tx) => store.deleteIntent(tx, id))
}

/** Destroys what lies above the newest version that has an owner. */
async function discard(secretStore: SecretStore, { path, version: base }: store.Intent): Promise<void> {
  if (base === null || base === 0) return secretStore.destroy(path)
  const newest = await secretStore.newest(path)
  for (let version = base + 1; version <= newest; version += 1) await secretStore.destroy(path, version)
}

function destroy(secretStore: SecretStore, { path, version }: store.Intent): Promise<void> {
  return secretStore.destroy(path, version ?? undefined)
}
