import { describe, expect, test } from 'vitest'
import { marksOf, traceParentOf } from '../../../../src/server/http/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const GOOD = `00-${TRACE}-${SPAN}-01`

test('a traceparent says trace, span and flags', () => {
  expect(traceParentOf({ traceparent: GOOD })).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1, state: undefined })
  expect(marksOf(traceParentOf({ traceparent: GOOD }))).toEqual({ trace_id: TRACE, span_id: SPAN })
})

test('a later version is read by the rules of the first, and may say more', () => {
  const later = { traceId: TRACE, spanId: SPAN, flags: 255, state: undefined }
  expect(traceParentOf({ traceparent: `cc-${TRACE}-${SPAN}-ff` })).toEqual(later)
  expect(traceParentOf({ traceparent: `cc-${TRACE}-${SPAN}-ff-what-the-future-will-be` })).toEqual(later)
})

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['a version that is forbidden', `ff-${TRACE}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a long parent', `00-${TRACE}-${SPAN}0-01`],
  ['no flags', `00-${TRACE}-${SPAN}`],
  ['one digit of flags', `00-${TRACE}-${SPAN}-1`],
  ['flags that are no digits', `00-${TRACE}-${SPAN}-0g`],
  ['more than version 00 has', `${GOOD}-more`],
  ['later versions that run on', `cc-${TRACE}-${SPAN}-01.more`],
  ['space around it', ` ${GOOD} `],
  ['a line of its own after it', `${GOOD}\n`],
  ['two of them', `${GOOD}, ${GOOD}`],
  ['sixteen thousand digits', `00-${'a'.repeat(16_000)}`],
])('a traceparent with %s counts as absent', (_what, traceparent) => {
  expect(traceParentOf(traceparent === undefined ? {} : { traceparent })).toBeUndefined()
})

describe('tracestate', () => {
  const stateOf = (tracestate: string): string | undefined => traceParentOf({ traceparent: GOOD, tracestate })?.state

  test.each([
    ['congo=t61rcWkgMzE', 'congo=t61rcWkgMzE'],
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['rojo=1 ,\t congo=2, ,', 'rojo=1,congo=2'],
    ['fw529a3039@dt=a b', 'fw529a3039@dt=a b'],
    [`a=${'x'.repeat(256)}`, `a=${'x'.repeat(256)}`],
  ])('%j goes on as %j', (said, passedOn) => {
    expect(stateOf(said)).toBe(passedOn)
  })

  test.each([
    ['no value', 'congo'],
    ['an empty value', 'congo='],
    ['an upper-case key', 'Congo=1'],
    ['two equals signs', 'congo=1=2'],
    ['a key twice', 'congo=1,rojo=2,congo=3'],
    ['33 members', Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(',')],
    ['513 characters', `a=${'x'.repeat(255)},b=${'x'.repeat(253)}`],
    ['a value of 257 characters', `a=${'x'.repeat(257)}`],
    ['a control character', 'a=b\u0007'],
  ])('with %s is left out, and the traceparent stays', (_what, tracestate) => {
    expect(traceParentOf({ traceparent: GOOD, tracestate })).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      flags: 1,
      state: undefined,
    })
  })

  test('alone it says nothing', () => {
    expect(traceParentOf({ tracestate: 'congo=t61rcWkgMzE' })).toBeUndefined()
  })
})
