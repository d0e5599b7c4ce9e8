/** Why an assertion is refused; `message` is only for the log: callers cannot distinguish refusals. */
export class AssertionRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AssertionRefused'
  }
}
