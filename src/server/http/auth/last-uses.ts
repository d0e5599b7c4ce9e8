/** When a credential was used last. */
export interface CredentialUse {
  readonly id: string
  readonly at: Date
}

export interface LastUsesDeps {
  /** Stores a batch, from a pool that nobody waits for. */
  readonly write: (uses: readonly CredentialUse[]) => Promise<void>
  /** Told when a batch could not be written; its uses are given up. */
  readonly onFailure: (error: unknown) => void
  /** How long uses are gathered. */
  readonly gatherMs?: number
  /** Credentials gathered at most; uses of others are left to a later minute. */
  readonly gatheredMax?: number
}

/** Writes down when credentials were used last: in batches, never while a request waits. */
export interface LastUses {
  note(credentialId: string, atMs: number): void
  /** Writes what is gathered. */
  flush(): Promise<void>
}

/** How often the use of one credential is worth noting, in ms. */
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
