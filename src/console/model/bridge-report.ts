/** What the host of a bridge reports of its configuration. */
export interface BridgeReport {
  /** When it applied the last one that it could apply; undefined where it runs none. */
  readonly appliedAt: string | undefined
  /** Why the newest one is not applied. */
  readonly error: string | undefined
}

/** Reads the state report `bridge.<id>` of a node, which may be of any form. */
export function bridgeReport(report: unknown): BridgeReport {
  const { applied_at: at, error } = (typeof report === 'object' && report !== null ? report : {}) as Readonly<
    Record<string, unknown>
  >
  return { appliedAt: typeof at === 'string' ? at : undefined, error: typeof error === 'string' ? error : undefined }
}
