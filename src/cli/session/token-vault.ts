/** Keeps tokens where the operating system keeps secrets. */
export interface TokenVault {
  /** Tries it with a text of no worth: whether it is there, unlocked, and keeps what it is given. Answers within 10 s. */
  works(): Promise<boolean>
  /** @throws Error when the keyring is away or locked. */
  read(account: string): Promise<string | undefined>
  write(account: string, token: string): Promise<void>
  /** Tells whether there was one. */
  remove(account: string): Promise<boolean>
}

const SERVICE = 'ctl'
const PROBE_MS = 10_000
/** Long enough for a person to unlock it. */
const ANSWER_MS = 60_000

/** The operating system's keyring; undefined where its library is not installed or has no build for this machine. */
export async function openTokenVault(): Promise<TokenVault | undefined> {
  const library = await import('@napi-rs/keyring').catch(() => undefined)
  if (library === undefined) return undefined
  const { AsyncEntry } = library
  // Without the pin it would fall back to the kernel's keyring, which forgets everything when the machine restarts.
  const options = { linux: { store: 'secret-service' } } as const
  const entryOf = (account: string) => new AsyncEntry(SERVICE, account, options)

  async function tried(account: string): Promise<boolean> {
    const signal = AbortSignal.timeout(PROBE_MS)
    const entry = entryOf(account)
    await entry.setPassword(account, signal)
    const isKept = (await entry.getPassword(signal)) === account
    await entry.deletePassword(signal)
    return isKept
  }

  return {
    works: () => within(PROBE_MS, async () => tried(`probe ${process.pid}`)).catch(() => false),
    async read(account) {
      const text = await within(ANSWER_MS, async () => entryOf(account).getPassword())
      return text ?? undefined
    },
    write: (account, token) => within(ANSWER_MS, async () => entryOf(account).setPassword(token)),
    remove: (account) => within(ANSWER_MS, async () => entryOf(account).deletePassword()),
  }
}

/** A call that waits for a dialogue nobody sees must not hang the command. */
async function within<T>(ms: number, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the keyring did not answer within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([call(), late])
  } finally {
    clearTimeout(timer)
  }
}
