/** Why a release was not taken or not changed. The message is one sentence for operators; nothing was changed. */
export class ReleaseRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ReleaseRefused'
  }
}
