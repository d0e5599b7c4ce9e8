/** A tuple as the API's create request has it; names may stand where ids do. */
export interface TupleRequest {
  readonly subject: string
  readonly relation: string
  readonly resource: string
  readonly caveat_context?: Readonly<Record<string, unknown>>
}

/** A tuple with the line that it began on. The first line of a text is 1. */
export interface TupleRow {
  readonly line: number
  readonly tuple: TupleRequest
}

/** What is wrong with the row of a line. */
export interface Fault {
  readonly line: number
  readonly message: string
}

/** The name of the caveat that a tuple carries; empty for none. */
export function caveatOf({ caveat_context: context }: Pick<TupleRequest, 'caveat_context'>): string {
  const name = context?.['caveat_name']
  return typeof name === 'string' ? name : ''
}
