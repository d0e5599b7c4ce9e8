/** Something in a text is not what it should be. The message ends with what was expected there. */
export class TextFault extends Error {
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset: number

  constructor(offset: number, reason: string) {
    super(reason)
    this.name = 'TextFault'
    this.offset = offset
  }
}
