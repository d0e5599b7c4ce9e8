/** What a client is given: where the server is, and the token of an administrator. `strange` answers as a later server might. */
export interface Given {
  readonly url: string
  readonly token: string
  readonly strange: string
  /** Keeps the names of one client apart from those of another. */
  readonly prefix: string
  /** Padded base64 of 32 bytes each. */
  readonly publicKeys: readonly [string, string]
}

/** What a client saw; a test compares it. */
export interface Seen {
  readonly subject: string
  readonly projects: readonly string[]
  readonly refused: string
  readonly strangeRefusal: string
  readonly strangeDimension: string
  readonly event: string
}

/** What is done about a refusal. A code that this program does not know is one it goes on after. */
export function adviceFor(code: 'slug_conflict' | (string & {})): string {
  switch (code) {
    case 'slug_conflict':
      return 'choose another name'
    default:
      return `go on after ${code}`
  }
}

/** Runs a client with what the environment gives, and prints what it saw. */
export async function runWith(client: (given: Given) => Promise<Seen>): Promise<void> {
  const given = JSON.parse(process.env['GIVEN'] ?? '{}') as Given
  process.stdout.write(`${JSON.stringify(await client(given))}\n`, () => process.exit(0))
}

declare const process: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: { write(text: string, done: () => void): void }
  exit(code: number): never
}
