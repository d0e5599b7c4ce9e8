/** Thrown by a change that was undone because an approval policy holds its call. The edge answers it with 202. */
export class HeldResponse extends Error {
  override readonly name = 'HeldResponse'
  readonly approvalId: string

  constructor(approvalId: string) {
    super('the call waits for an approval')
    this.approvalId = approvalId
  }
}
