/** What every scenario may rely on: one server with one Domain, made once for all of them. */
export interface World {
  /** Base URL of the server. */
  readonly url: string
  /** Token of a platform administrator who is also platform auditor. */
  readonly root: string
  /** Token of a service identity of the Domain that holds no relation. */
  readonly nobody: string
  /** The Domain in which everything is arranged. */
  readonly domainId: string
  /** A Project of it. */
  readonly projectId: string
  /** A service identity of it that holds no relation: the one behind `nobody`. */
  readonly identityId: string
  /** A slug or name that nothing has yet. */
  name(): string
  /** Calls an operation as root; anything but success throws. Resolves with the JSON answer. */
  make(operationId: string, input: Readonly<Record<string, unknown>>): Promise<any>
  /** Registers a node of the Domain. */
  node(): Promise<{ readonly id: string; readonly nsk: string }>
}
