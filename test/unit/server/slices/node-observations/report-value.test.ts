import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportText } from '../../../../../src/server/slices/node-observations/report-value.ts'

const INVALID = expect.objectContaining({ code: 'invalid_report', status: 400 })

function nested(depth: number, open = '[', close = ']'): unknown {
  return JSON.parse(open.repeat(depth) + close.repeat(depth))
}

describe('The value of a state report', () => {
  it.each([
    [{ b: 1, a: [true, null, 'ü'] }, '{"a":[true,null,"ü"],"b":1}'],
    [null, 'null'],
    ['', '""'],
    [0, '0'],
    [-0, '0'],
    [1e21, '1e+21'],
    [[], '[]'],
  ])('is kept in canonical form: %j', (value, text) => {
    expect(reportText(value)).toBe(text)
  })

  it('may take 4,096 bytes in that form and no more', () => {
    expect(reportText('x'.repeat(4_094))).toHaveLength(4_096)
    expect(() => reportText('x'.repeat(4_095))).toThrow(INVALID)
    expect(Buffer.byteLength(reportText('ü'.repeat(2_047)))).toBe(4_096)
    expect(() => reportText(`x${'ü'.repeat(2_047)}`)).toThrow(INVALID)
  })

  it('may be as deep as those bytes allow', () => {
    expect(reportText(nested(2_048))).toHaveLength(4_096)
    expect(() => reportText(nested(2_049))).toThrow(INVALID)
  })

  it('that is deeper than the stack is refused like any other', () => {
    expect(() => reportText(nested(100_000))).toThrow(INVALID)
  })

  it.each([[Number.POSITIVE_INFINITY], [{ a: [Number.NEGATIVE_INFINITY] }], ['\ud800'], [{ '\udc00': 1 }]])(
    'that RFC 8785 has no text for is refused: %j',
    (value) => {
      expect(() => reportText(value)).toThrow(INVALID)
    },
  )

  it('reads as the value that was sent', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const sent: unknown = JSON.parse(JSON.stringify(value))
        const text = reportText(sent)
        expect(JSON.parse(text)).toEqual(sent)
        expect(reportText(JSON.parse(text))).toBe(text)
      }),
    )
  })
})
