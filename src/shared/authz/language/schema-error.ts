/** A position in a schema text: counted from 1, columns in UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A schema that cannot be loaded. The message ends with what was expected there; no part of the schema is loaded. */
export class SchemaError extends Error {
  readonly position: Position

  constructor(position: Position, reason: string) {
    super(`${position.line}:${position.column}: ${reason}`)
    this.name = 'SchemaError'
    this.position = position
  }
}
