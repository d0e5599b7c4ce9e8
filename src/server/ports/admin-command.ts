/** What an operator asks of a server on its own machine, beside the API. */
export interface AdminRequest {
  /** As `artifacts.import`. */
  readonly command: string
  /** JSON. */
  readonly input: unknown
  /** Bytes that the input refers to by their places. */
  readonly attachments: readonly Uint8Array[]
}

/** A command that a running server carries out, and a command line on the datastore of a stopped one. */
export interface AdminCommand {
  readonly name: string
  /** Whether it may take longer than a minute: it reports how far it is, and ends early when its caller goes away. */
  readonly isLong?: true
  /** Resolves with what was done, in one sentence. @throws AdminRefusal */
  run(request: Omit<AdminRequest, 'command'>, caller: AdminCaller): Promise<string>
}

/** Who waits for a command. */
export interface AdminCaller {
  /** Aborted when the caller is gone, or the server stops. */
  readonly signal: AbortSignal
  /** Says how far a long command is, in one short sentence. */
  report(sentence: string): void
}

/** Why a command was not carried out, in one sentence. Nothing was changed. */
export class AdminRefusal extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AdminRefusal'
  }
}
