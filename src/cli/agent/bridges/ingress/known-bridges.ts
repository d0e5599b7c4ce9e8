/** Which bridges this agent knows since its start: programs of an earlier one may serve others until then. */
export interface KnownBridges {
  /** All that the node hosts, by a pull. */
  pulled(bridgeIds: ReadonlySet<string>): void
  /** What a bridge wants is in force. */
  applied(bridgeId: string): void
  /** It is not, after all: what an earlier agent ran for it may go on. */
  failed(bridgeId: string): void
  /** Whether what runs for the bridge is what it wants: it was applied, or the node does not host it any more. */
  isKnown(bridgeId: string): boolean
  /** Whether each bridge of the last pull was applied. */
  areAllKnown(): boolean
}

/** Makes the record of an agent that has just started. */
export function createKnownBridges(): KnownBridges {
  const applied = new Set<string>()
  let hosted: ReadonlySet<string> | undefined
  return {
    pulled(bridgeIds) {
      hosted = bridgeIds
      for (const id of applied) if (!bridgeIds.has(id)) applied.delete(id)
    },
    applied: (bridgeId) => void applied.add(bridgeId),
    failed: (bridgeId) => void applied.delete(bridgeId),
    isKnown: (bridgeId) => applied.has(bridgeId) || (hosted !== undefined && !hosted.has(bridgeId)),
    areAllKnown: () => hosted !== undefined && [...hosted].every((id) => applied.has(id)),
  }
}
