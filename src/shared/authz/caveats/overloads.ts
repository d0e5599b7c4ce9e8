import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  IP_ADDRESS,
  listOf,
  mapOf,
  param,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  type StaticType,
} from './static-type.ts'

/** One way to call a function. Type parameters are numbered from -1 down; each represents one type throughout a call. */
export interface Overload {
  readonly args: readonly StaticType[]
  readonly result: StaticType
}

interface Declaration {
  /** `f(a, b)`. */
  readonly plain: readonly Overload[]
  /** `a.f(b)`, with `a` for the first argument. */
  readonly member: readonly Overload[]
}

const A = param(-1)
const B = param(-2)
const LIST = listOf(A)
const MAP = mapOf(A, B)
const JSON_MAP = mapOf(STRING, DYN)

const to = (result: StaticType, ...args: StaticType[]): Overload => ({ args, result })
/** One overload for each type, of two operands of it. */
const pairs = (...types: StaticType[]): Overload[] => types.map((type) => to(type, type, type))
const plain = (...overloads: Overload[]): Declaration => ({ plain: overloads, member: [] })
const member = (...overloads: Overload[]): Declaration => ({ plain: [], member: overloads })

const compared = plain(
  ...[BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION].map((type) => to(BOOL, type, type)),
)
const logical = plain(to(BOOL, BOOL, BOOL))
const equated = plain(to(BOOL, A, A))
const dateField = member(to(INT, TIMESTAMP), to(INT, TIMESTAMP, STRING))
const clockField = member(to(INT, TIMESTAMP), to(INT, TIMESTAMP, STRING), to(INT, DURATION))
const sizes = [STRING, BYTES, LIST, MAP].map((type) => to(INT, type))
const stringTest = member(to(BOOL, STRING, STRING))

/** What expressions may call: the standard functions of CEL and the two that SpiceDB adds. */
const DECLARATIONS: { readonly [name: string]: Declaration } = {
  '_?_:_': plain(to(A, BOOL, A, A)),
  '_&&_': logical,
  '_||_': logical,
  '!_': plain(to(BOOL, BOOL)),
  '@not_strictly_false': plain(to(BOOL, BOOL)),
  '_==_': equated,
  '_!=_': equated,
  '_<_': compared,
  '_<=_': compared,
  '_>_': compared,
  '_>=_': compared,
  '@in': plain(to(BOOL, A, LIST), to(BOOL, A, MAP)),
  '_[_]': plain(to(A, LIST, INT), to(B, MAP, A)),
  '_+_': plain(
    ...pairs(INT, UINT, DOUBLE, STRING, BYTES, LIST, DURATION),
    to(TIMESTAMP, TIMESTAMP, DURATION),
    to(TIMESTAMP, DURATION, TIMESTAMP),
  ),
  '_-_': plain(
    ...pairs(INT, UINT, DOUBLE, DURATION),
    to(TIMESTAMP, TIMESTAMP, DURATION),
    to(DURATION, TIMESTAMP, TIMESTAMP),
  ),
  '_*_': plain(...pairs(INT, UINT, DOUBLE)),
  '_/_': plain(...pairs(INT, UINT, DOUBLE)),
  '_%_': plain(...pairs(INT, UINT)),
  '-_': plain(to(INT, INT), to(DOUBLE, DOUBLE)),
  size: { plain: sizes, member: sizes },
  type: plain(to(typeOf(A), A)),
  dyn: plain(to(DYN, A)),
  bool: plain(to(BOOL, BOOL), to(BOOL, STRING)),
  bytes: plain(to(BYTES, BYTES), to(BYTES, STRING)),
  double: plain(...[DOUBLE, INT, UINT, STRING].map((type) => to(DOUBLE, type))),
  duration: plain(...[DURATION, INT, STRING].map((type) => to(DURATION, type))),
  int: plain(...[INT, UINT, DOUBLE, STRING, TIMESTAMP, DURATION].map((type) => to(INT, type))),
  string: plain(...[STRING, BOOL, BYTES, DOUBLE, DURATION, INT, TIMESTAMP, UINT].map((type) => to(STRING, type))),
  timestamp: plain(...[TIMESTAMP, INT, STRING].map((type) => to(TIMESTAMP, type))),
  uint: plain(...[UINT, INT, DOUBLE, STRING].map((type) => to(UINT, type))),
  contains: stringTest,
  endsWith: stringTest,
  startsWith: stringTest,
  matches: { plain: [to(BOOL, STRING, STRING)], member: [to(BOOL, STRING, STRING)] },
  getFullYear: dateField,
  getMonth: dateField,
  getDate: dateField,
  getDayOfMonth: dateField,
  getDayOfWeek: dateField,
  getDayOfYear: dateField,
  getHours: clockField,
  getMinutes: clockField,
  getSeconds: clockField,
  getMilliseconds: clockField,
  in_cidr: member(to(BOOL, IP_ADDRESS, STRING)),
  isSubtreeOf: member(to(BOOL, JSON_MAP, JSON_MAP)),
}

const COMPARISONS: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_'])

const NUMBERS = [INT, UINT, DOUBLE]

/** Comparisons of numbers of two types, which cel-go's checker allows from the first macro of an expression on. */
const MIXED: readonly Overload[] = NUMBERS.flatMap((a) => NUMBERS.filter((b) => b !== a).map((b) => to(BOOL, a, b)))

/** The further ways to call a function behind a macro. */
export function mixedOverloadsOf(name: string): readonly Overload[] {
  return COMPARISONS.has(name) ? MIXED : []
}

/** The ways to call a function; undefined when there is none of that name. */
export function overloadsOf(name: string, style: keyof Declaration): readonly Overload[] | undefined {
  return Object.hasOwn(DECLARATIONS, name) ? DECLARATIONS[name]?.[style] : undefined
}
