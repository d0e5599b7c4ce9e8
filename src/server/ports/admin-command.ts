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
  /** Resolves with what was done, in one sentence. @throws AdminRefusal */
  run(request: Omit<AdminRequest, 'command'>): Promise<string>
}

/** Why a command was not carried out, in one sentence. Nothing was changed. */
export class AdminRefusal extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AdminRefusal'
  }
}
