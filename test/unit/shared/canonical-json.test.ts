import { describe, expect, it } from 'vitest'
import { canonicalize } from '../../../src/shared/canonical-json.ts'

describe('canonical JSON', () => {
  it.each<[string, unknown, string]>([
    ['null, booleans and texts', [null, true, false, 'a'], '[null,true,false,"a"]'],
    ['members in the order of their UTF-16 units', { b: 1, a: 2, B: 3, '\u00e9': 4 }, '{"B":3,"a":2,"b":1,"é":4}'],
    [
      'members as RFC 8785 §3.2.3 sorts them',
      {
        '\u20ac': 'Euro Sign',
        '\r': 'Carriage Return',
        '\ufb33': 'Hebrew Letter Dalet With Dagesh',
        '1': 'One',
        '\ud83d\ude00': 'Emoji: Grinning Face',
        '\u0080': 'Control',
        '\u00f6': 'Latin Small Letter O With Diaeresis',
      },
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    [
      'numbers as RFC 8785 §3.2.2.3 writes them',
      [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0],
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
    ],
    ['control characters escaped, and nothing else', '\u20ac$\u000f\nA\'B"\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\"/"'],
    ['no member that is undefined', { a: undefined, b: 1 }, '{"b":1}'],
    ['depth', { a: { c: [{ z: 1, y: [] }], b: {} } }, '{"a":{"b":{},"c":[{"y":[],"z":1}]}}'],
  ])('has %s', (_what, value, text) => {
    expect(canonicalize(value)).toBe(text)
  })

  it.each<[string, unknown]>([
    ['a number that is not finite', [NaN]],
    ['a lone surrogate', 'a\ud800b'],
    ['a name with a lone surrogate', { '\udc00': 1 }],
    ['a function', { a: () => 1 }],
    ['a date', new Date(0)],
    ['a bigint', 1n],
    ['undefined', undefined],
  ])('refuses %s', (_what, value) => {
    expect(() => canonicalize(value)).toThrow(TypeError)
  })
})
