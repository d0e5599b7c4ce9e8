/** Why nothing is taken from a source of releases now, as a clause without a full stop. */
export class SourceFault extends Error {
  constructor(fault: string, cause?: unknown) {
    super(fault, { cause })
    this.name = 'SourceFault'
  }
}
