import { AsyncLocalStorage } from 'node:async_hooks'

interface Scope {
  isOpen: boolean
}

/**
 * Knows whether this async path is inside an open transaction. Inside one, a query through a pool would wait for a second
 * session while it holds the first: on the embedded store forever, on PostgreSQL until the pool is exhausted.
 */
export interface TransactionScope {
  /** @throws Error naming the mistake when a transaction is open on this path. */
  assertOutside(): void
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createTransactionScope(): TransactionScope {
  const scopes = new AsyncLocalStorage<Scope>()
  let open = 0

  /** Tracking async contexts slows every promise of the process, so it is enabled only while a transaction is open. */
  function leave(scope: Scope): void {
    scope.isOpen = false
    open -= 1
    if (open === 0) scopes.disable()
  }

  return {
    assertOutside() {
      if (scopes.getStore()?.isOpen === true)
        throw new Error('a query through the pool while a transaction is open on the same path: use the transaction')
    },
    async run(work) {
      const scope = { isOpen: true }
      open += 1
      try {
        return await scopes.run(scope, work)
      } finally {
        leave(scope)
      }
    },
  }
}
