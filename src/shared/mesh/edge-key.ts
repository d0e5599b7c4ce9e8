/** One end of an edge: a node and its own preshared key, which never leaves the server. */
export interface EdgeEnd {
  readonly nodeId: string
  /** 32 bytes. */
  readonly psk: Uint8Array
}

/** What HKDF-SHA-256 (RFC 5869) makes the key of an edge from. The salt is empty. */
export interface EdgeKeyInput {
  /** 64 bytes: the keys of both ends. Secret. */
  readonly ikm: Uint8Array
  readonly info: string
}

/** Bytes of an edge's key. */
export const EDGE_KEY_BYTES = 32

/**
 * Builds the HKDF input of an edge's key (decisions: Keys). The end with the lower id comes first, so that both
 * ends get the same input. Ids are two different lower-case UUIDs.
 */
export function edgeKeyInput(one: EdgeEnd, other: EdgeEnd): EdgeKeyInput {
  const [low, high] = one.nodeId < other.nodeId ? [one, other] : [other, one]
  const ikm = new Uint8Array(low.psk.length + high.psk.length)
  ikm.set(low.psk)
  ikm.set(high.psk, low.psk.length)
  return { ikm, info: `service/mesh/edge-psk/v1|${low.nodeId}|${high.nodeId}` }
}
