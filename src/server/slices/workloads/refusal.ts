/** Why an assertion is refused; `message` is for the log alone: outside all refusals look alike. */
export class AssertionRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AssertionRefused'
  }
}
