/** A fault in a text. The message ends with what was expected at the offset. */
export class TextFault extends Error {
  /** Offset in the text, in UTF-16 units from 0. */
  readonly offset: number

  constructor(offset: number, reason: string) {
    super(reason)
    this.name = 'TextFault'
    this.offset = offset
  }
}
