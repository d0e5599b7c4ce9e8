import { describe, expect, it } from 'vitest'
import { decodeMessage, encodeMessage } from '../../../../../../src/cli/agent/bridges/tunnels/ipsec/vici-message.ts'

describe("a message of charon's control interface", () => {
  it('is encoded as its documentation has it', () => {
    // The example of the README of vici: a value, an item of a list, and a section.
    const message = { key1: 'value1', section1: { 'sub-section': { key2: 'value2' }, list1: ['item1', 'item2'] } }
    expect(encodeMessage(message).toString('latin1')).toBe(
      [
        '\x03\x04key1\x00\x06value1',
        '\x01\x08section1',
        '\x01\x0bsub-section',
        '\x03\x04key2\x00\x06value2',
        '\x02',
        '\x04\x05list1',
        '\x05\x00\x05item1',
        '\x05\x00\x05item2',
        '\x06',
        '\x02',
      ].join(''),
    )
    expect(decodeMessage(encodeMessage(message))).toEqual(message)
  })

  it('keeps bytes and hostile text as they are', () => {
    expect(encodeMessage({ data: new Uint8Array([0, 1, 255]) })).toEqual(
      Buffer.from('\x03\x04data\x00\x03\x00\x01\xff', 'latin1'),
    )
    const hostile = { id: '}\n"\\\0 secrets { }', '': ['', '\u{1f511}'] }
    expect(decodeMessage(encodeMessage(hostile))).toEqual(hostile)
  })

  it.each([
    ['a value that is cut off', '\x03\x04key1\x00\x06val'],
    ['a section without an end', '\x01\x08section1'],
    ['an end without a section', '\x02'],
    ['an item outside of a list', '\x05\x00\x01a'],
    ['a list without an end', '\x04\x01l\x05\x00\x01a'],
    ['sections without end', '\x01\x01s'.repeat(1000)],
    ['an element of no known type', '\x09\x01a'],
  ])('that has %s is refused', (_what, text) => {
    expect(() => decodeMessage(Buffer.from(text, 'latin1'))).toThrow('not a message of its control interface')
  })

  it('is refused where a value has no room for its length', () => {
    expect(() => encodeMessage({ data: 'x'.repeat(65_536) })).toThrow('too long')
    expect(() => encodeMessage({ ['x'.repeat(256)]: '' })).toThrow('too long')
  })
})
