/** Another process leads, or nobody knows: what was about to be written was not. */
export class LeadershipLost extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'LeadershipLost'
  }
}
