import type { Random } from './random.ts'

/** Values of one field type, as JSON gives them, and CEL conditions on a field of that type. */
interface FieldType {
  readonly values: readonly unknown[]
  /** Values of the wrong type or form. */
  readonly wrong: readonly unknown[]
  /** Conditions on the field `x`; a `y` in them is another field of that type. */
  readonly conditions: readonly string[]
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** By the schema's spelling. */
export const FIELD_TYPES: { readonly [type: string]: FieldType } = {
  bool: { values: [true, false], wrong: ['true', 1], conditions: ['x', '!x', 'x == true', 'x != y', '(x ? y : true)'] },
  string: {
    values: ['a', 'b', 'abc', '', 'Straße 1'],
    wrong: [1, true],
    conditions: [
      'x == "a"',
      'x != y',
      'x in ["a", "b"]',
      'x.startsWith("a")',
      'x.endsWith("c")',
      'x.contains("b")',
      'x.matches("^[a-c]+$")',
      'x.size() > 1',
      'size(x + "z") == 2',
      'x < "b"',
      'x + y == "ab"',
      'int(size(x)) >= 3',
    ],
  },
  int: {
    values: [0, 1, 2, 5, -3, 42, '7'],
    wrong: ['one', 1.5, true],
    conditions: [
      'x > 1',
      'x <= 2',
      'x == 5',
      'x != y',
      'x in [1, 2, 3]',
      'x + 1 > 2',
      'x * 2 == 4',
      'x - y < 3',
      'x % 2 == 1',
      '-x < 0',
      'x / 2 == 1',
      '10 / x > 2',
      'double(x) < 2.5',
      'string(x) == "5"',
      'x >= 1 && x < 10',
      '(x > 1 ? x : 0) == 5',
    ],
  },
  uint: {
    values: [0, 1, 2, 5, 42, '7'],
    wrong: [-1, 1.5, 'one'],
    conditions: ['x > 1', 'x <= 2', 'x == 5', 'x != y', 'x in [1, 2]', 'x + 1 > 2', 'x - y < 3'],
  },
  double: {
    values: [0, 0.5, 1, 2.25, -1.5, '0.5'],
    wrong: ['half', true],
    conditions: [
      'x > 0.5',
      'x <= 1.0',
      'x == 2.25',
      'x != y',
      'x + 0.5 == 1.0',
      'x * 2.0 > 1.0',
      'int(x) == 2',
      '-x < 0.0',
    ],
  },
  bytes: {
    values: [base64('a'), base64('ab'), base64('')],
    wrong: ['?', 1],
    conditions: ['x == b"a"', 'x != y', 'size(x) > 1', 'x + b"b" == b"ab"'],
  },
  duration: {
    values: ['1h', '90m', '30s', '1.5h', '-5m', '100ms'],
    wrong: ['soon', 5],
    conditions: [
      'x > duration("1h")',
      'x <= duration("90m")',
      'x == y',
      'x + duration("30m") >= duration("2h")',
      'x.getHours() == 1',
      'x.getMinutes() > 60',
      'x.getSeconds() < 100',
    ],
  },
  timestamp: {
    values: ['2024-01-01T00:00:00Z', '2024-06-15T12:30:00Z', '2024-06-15T14:30:00+02:00', '2030-12-31T23:59:59.5Z'],
    wrong: ['yesterday', 5, '2024-01-01'],
    conditions: [
      'x < timestamp("2025-01-01T00:00:00Z")',
      'x >= y',
      'x == timestamp("2024-06-15T12:30:00Z")',
      'x.getFullYear() == 2024',
      'x.getHours() >= 12',
      'x.getHours("Europe/Berlin") == 14',
      'x.getDayOfWeek() == 6',
      'x - timestamp("2024-01-01T00:00:00Z") > duration("24h")',
      'x + duration("24h") > timestamp("2024-01-01T12:00:00Z")',
      'x.getMonth() == 5',
      'x.getDate() == 15',
    ],
  },
  ipaddress: {
    values: ['10.0.0.1', '192.168.1.7', '2001:db8::1', '::ffff:10.0.0.1'],
    wrong: ['home', 10],
    conditions: ['x.in_cidr("10.0.0.0/8")', '!x.in_cidr("192.168.0.0/16")', 'x.in_cidr("2001:db8::/32")', 'x == y'],
  },
  'list<int>': {
    values: [[], [1], [1, 2, 3], [5, 5]],
    wrong: [1, ['one']],
    conditions: [
      '1 in x',
      'size(x) > 1',
      'x.exists(each, each > 2)',
      'x.all(each, each < 4)',
      'x.exists_one(each, each == 5)',
      'x == [1]',
      'x[0] == 1',
      'x.filter(each, each > 1).size() == 2',
      'x.map(each, each * 2) == [2]',
      'x + y == [1, 1]',
    ],
  },
  'list<string>': {
    values: [[], ['a'], ['a', 'b'], ['abc']],
    wrong: ['a', [1]],
    conditions: [
      '"a" in x',
      'size(x) == 1',
      'x.exists(each, each.startsWith("ab"))',
      'x.all(each, each in ["a", "b"])',
      'x != y',
    ],
  },
  'map<string>': {
    values: [{}, { kind: 'a' }, { kind: 'b', tag: 'c' }],
    wrong: ['a', { kind: 1 }],
    conditions: [
      '"kind" in x',
      'x.kind == "a"',
      'x["tag"] == "c"',
      'has(x.tag)',
      'x.all(key, key != "tag")',
      'x.exists(key, x[key] == "a")',
      'size(x) == 1',
      'x.isSubtreeOf({"kind": "b", "tag": "c"})',
    ],
  },
  'map<any>': {
    values: [{}, { kind: 'a' }, { kind: 2, deep: { kind: 'a' } }, { kind: 'a', more: [1] }],
    wrong: ['a', 1],
    conditions: [
      'x.kind == "a"',
      'x.kind == 2',
      'has(x.deep)',
      'x.deep.kind == "a"',
      'x.isSubtreeOf(y)',
      '"more" in x',
    ],
  },
  any: {
    values: [1, 'a', true, [1], { kind: 'a' }, 2.5],
    wrong: [],
    conditions: ['x == 1', 'x == "a"', 'x == y', 'x != true', 'x in [1, 2]', 'x == [1]', 'x.kind == "a"'],
  },
}

/** A value for a field of the type; in `wrongShare` of the draws one that is none. */
export function drawValue(random: Random, type: string, wrongShare: number): unknown {
  const { values, wrong } = FIELD_TYPES[type] ?? { values: [], wrong: [] }
  return wrong.length > 0 && random.chance(wrongShare) ? random.pick(wrong) : random.pick(values)
}
