/**
 * A reason not to start that the operator can do something about. The message is one sentence that says what to do;
 * it is printed alone, without a stack. Nothing has been written when it is thrown, unless the message states it.
 */
export class BootError extends Error {
  /** 1: the configuration or the machine must be changed. 8: something that the server depends on is away; try again. */
  readonly exitCode: 1 | 8

  constructor(exitCode: 1 | 8, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'BootError'
    this.exitCode = exitCode
  }
}
