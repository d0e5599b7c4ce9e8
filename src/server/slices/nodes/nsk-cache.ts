import type { Caller, Refusal } from '../../ports/credential-resolver.ts'

/** A key that was presented and found to be the stored one, and what it resolves to. */
export interface KnownKey {
  readonly kid: string
  /** Stands for the presented text: `Keyring.cacheKey`. */
  readonly cacheKey: string
  /** When it stops working, ms. */
  readonly retiresAtMs: number | undefined
  readonly answer: Caller | Refusal
}

/** Keys of one node that are kept: the newest, the one it replaced, and dead ones that are still presented. */
const KEYS_OF_NODE_MAX = 4

/** Known keys by node, bounded. */
export interface NskCache {
  find(nodeHex: string, kid: string): KnownKey | undefined
  keep(nodeHex: string, key: KnownKey): void
  drop(nodeHex: string): void
  clear(): void
}

/**
 * Keeps the keys of at least `nodesMax` nodes, those used last, and of at most twice as many: two generations are used
 * instead of exact order, so that a hit on a busy node moves nothing.
 */
export function createNskCache(nodesMax: number): NskCache {
  let young = new Map<string, readonly KnownKey[]>()
  let old = new Map<string, readonly KnownKey[]>()

  function put(nodeHex: string, keys: readonly KnownKey[]): void {
    if (young.size >= nodesMax && !young.has(nodeHex)) {
      old = young
      young = new Map()
    }
    young.set(nodeHex, keys)
  }

  function ofNode(nodeHex: string): readonly KnownKey[] | undefined {
    const keys = young.get(nodeHex)
    if (keys !== undefined) return keys
    const aged = old.get(nodeHex)
    if (aged !== undefined) put(nodeHex, aged)
    return aged
  }

  return {
    find: (nodeHex, kid) => ofNode(nodeHex)?.find((key) => key.kid === kid),
    keep(nodeHex, key) {
      const others = (ofNode(nodeHex) ?? []).filter(({ kid }) => kid !== key.kid)
      put(nodeHex, [key, ...others].slice(0, KEYS_OF_NODE_MAX))
    },
    drop(nodeHex) {
      young.delete(nodeHex)
      old.delete(nodeHex)
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}
