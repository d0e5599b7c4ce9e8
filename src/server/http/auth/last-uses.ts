/** When a credential was used last. */
export interface CredentialUse {
  readonly id: string
  readonly at: Date
}

export interface LastUsesDeps {
  /** Stores a batch through a pool that no request waits for. */
  readonly write: (uses: readonly CredentialUse[]) => Promise<void>
  /** Called when a batch could not be written; its uses are dropped. */
  readonly onFailure: (error: unknown) => void
  /** How long uses are collected. */
  readonly gatherMs?: number
  /** Maximum of credentials in a batch; other uses wait for a later minute. */
  readonly gatheredMax?: number
}

/** Stores when credentials were last used: in batches, never while a request waits. */
export interface LastUses {
  note(credentialId: string, atMs: number): void
  /** Writes the collected uses. */
  flush(): Promise<void>
}

/** Minimum time between two records of one credential's use, in ms. */
export const NOTED_EVERY_MS = 60_000

export function createLastUses({ write, onFailure, gatherMs = 5000, gatheredMax = 10_000 }: LastUsesDeps): LastUses {
  let gathered = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const uses = Array.from(gathered, ([id, atMs]): CredentialUse => ({ id, at: new Date(atMs) }))
    gathered = new Map()
    if (uses.length === 0) return
    try {
      await write(uses)
    } catch (error) {
      onFailure(error)
    }
  }

  return {
    note(credentialId, atMs) {
      if (gathered.size >= gatheredMax && !gathered.has(credentialId)) return
      gathered.set(credentialId, atMs)
      timer ??= setTimeout(() => void flush(), gatherMs).unref()
    },
    flush,
  }
}
