/** Expressions over one set of values, with what becomes of each. */
export interface ExpressionCase {
  /** `a int, b list<string>`. */
  readonly fields: string
  readonly values: Readonly<Record<string, unknown>>
  /** `unknown` where a value is missing, `error` where the expression fails over the values or one does not fit. */
  readonly answers: { readonly [expression: string]: 'yes' | 'no' | 'unknown' | 'error' }
}

/** An expression of which SpiceDB says something else, and why. */
export interface ExpressionExclusion {
  readonly fields: string
  readonly values: Readonly<Record<string, unknown>>
  readonly expression: string
  readonly ours: 'yes' | 'no' | 'unknown'
  readonly spicedb: 'yes' | 'no' | 'error'
  readonly reason: string
}

export const EXPRESSION_EXCLUSIONS: readonly ExpressionExclusion[] = [
  {
    fields: 'a int',
    values: { a: '1p3' },
    expression: '[a].size() == 1',
    ours: 'unknown',
    spicedb: 'yes',
    reason: 'SpiceDB reads exponents of two in whole numbers too',
  },
  {
    fields: 'a int, b int',
    values: { a: 1, b: 2 },
    expression: '{"a": 1, "a": 2}.a == 1 && a < b',
    ours: 'unknown',
    spicedb: 'no',
    reason: 'SpiceDB lets the last of equal keys stand',
  },
  {
    fields: 'a timestamp, d duration',
    values: { a: '2024-03-31T01:30:45.123456789Z', d: '90m' },
    expression: 'a.getHours("Local") == 1 && d == d',
    ours: 'unknown',
    spicedb: 'yes',
    reason: 'The zone of the machine says nothing',
  },
  {
    fields: 'a timestamp, d duration',
    values: { a: '2024-03-31T01:30:45.123456789Z', d: '90m' },
    expression: 'string(timestamp("2024-01-01T01:00:00+01:00")) == "2024-01-01T00:00:00Z" && a + d > a',
    ours: 'yes',
    spicedb: 'no',
    reason: 'SpiceDB prints moments with the offset that they were read with',
  },
  {
    fields: 'a uint, b uint',
    values: { a: 1, b: 2 },
    expression: 'string(a) == "1" && b == 2',
    ours: 'yes',
    spicedb: 'error',
    reason: 'SpiceDB takes fields without sign for whole numbers, and then finds no such conversion',
  },
  {
    fields: 'a uint, b uint',
    values: { a: 1, b: 2 },
    expression: 'int(a) == 1 && b == 2',
    ours: 'yes',
    spicedb: 'error',
    reason: 'SpiceDB takes fields without sign for whole numbers, and then finds no such conversion',
  },
]
