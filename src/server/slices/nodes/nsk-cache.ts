import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { Caller, Refusal } from '../../ports/credential-resolver.ts'

/** A verified key, and what it resolves to. */
export interface KnownKey {
  readonly kid: string
  /** Digest of the presented text: `Keyring.cacheKey`. */
  readonly cacheKey: string
  /** When it stops working, ms. */
  readonly retiresAtMs: number | undefined
  readonly answer: Caller | Refusal
}

/** Maximum of cached keys of one node: the newest, the one it replaced, and invalid ones that are still presented. */
const KEYS_OF_NODE_MAX = 4

/** Known keys by node, bounded. */
export interface NskCache {
  find(nodeHex: string, kid: string): KnownKey | undefined
  keep(nodeHex: string, key: KnownKey): void
  drop(nodeHex: string): void
  clear(): void
}

/** Keeps the keys of at most `nodesMax` nodes, rather those in use. A hit on a busy node moves nothing. */
export function createNskCache(nodesMax: number): NskCache {
  const nodes = createSecondChanceMap<readonly KnownKey[]>(nodesMax)
  return {
    find: (nodeHex, kid) => nodes.get(nodeHex)?.find((key) => key.kid === kid),
    keep(nodeHex, key) {
      const others = (nodes.get(nodeHex) ?? []).filter(({ kid }) => kid !== key.kid)
      nodes.set(nodeHex, [key, ...others].slice(0, KEYS_OF_NODE_MAX))
    },
    drop: (nodeHex) => nodes.delete(nodeHex),
    clear: () => nodes.clear(),
  }
}
