import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withBlock, withoutBlock } from '../../../../../src/cli/agent/names/hosts-block.ts'

const WEB = [
  { name: 'web-1', address: '100.64.0.1' },
  { name: 'web-2', address: '100.64.0.2' },
]
const BEGIN = '# BEGIN names of the mesh on ctl0, written by ctl agent'
const END = '# END names of the mesh on ctl0'
const BLOCK = `${BEGIN}\n100.64.0.1 web-1.mesh\n100.64.0.2 web-2.mesh\n${END}\n`

/** Bytes of a file, as Latin-1; parts of markers and lines are frequent. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('127.0.0.1 localhost', '\n', '\r\n', '# BEGIN', BEGIN.slice(0, -1), `${END} x`, ' '),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((parts) => Buffer.from(parts.join('')).toString('latin1'))

describe('the block of names', () => {
  test('is put at the end of the text', () => {
    expect(withBlock('127.0.0.1 localhost\n', 'ctl0', WEB)).toBe(`127.0.0.1 localhost\n${BLOCK}`)
    expect(withBlock('', 'ctl0', WEB)).toBe(BLOCK)
  })

  test('is replaced where it is', () => {
    expect(withBlock(`a\n${BLOCK}b`, 'ctl0', [])).toBe(`a\n${BEGIN}\n${END}\nb`)
  })

  test('put and taken away leaves each text byte by byte', () => {
    fc.assert(
      fc.property(text, (before) => {
        const once = withBlock(before, 'ctl0', WEB)
        expect(once.startsWith(before)).toBe(true)
        expect(withBlock(once, 'ctl0', WEB)).toBe(once)
        expect(withoutBlock(withBlock(once, 'ctl0', []), 'ctl0')).toBe(before)
        expect(withoutBlock(before, 'ctl0')).toBe(before)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of two interfaces are apart, in any order of removal', () => {
    fc.assert(
      fc.property(text, (before) => {
        const both = withBlock(withBlock(before, 'ctl0', WEB), 'ctl1', WEB)
        expect(withoutBlock(withoutBlock(both, 'ctl1'), 'ctl0')).toBe(before)
        const first = withoutBlock(withoutBlock(both, 'ctl0'), 'ctl1')
        // The newline before the first block separates it from what another agent has written after it.
        expect([before, `${before}\n`]).toContain(first)
      }),
    )
  })

  test('is found after another program changed the text around it', () => {
    expect(withoutBlock(`x\n${BLOCK}y\n`, 'ctl0')).toBe('x\ny\n')
    expect(withoutBlock(`x\n${BLOCK}y`, 'ctl0')).toBe('x\ny')
    expect(withoutBlock(BLOCK.trimEnd(), 'ctl0')).toBe('')
    expect(withoutBlock(`x\r\n${BLOCK.replaceAll('\n', '\r\n')}y\r\n`, 'ctl0')).toBe('x\r\ny\r\n')
  })

  test('after a line without a newline keeps that newline once something follows', () => {
    expect(withoutBlock(`${withBlock('x', 'ctl0', WEB)}y\n`, 'ctl0')).toBe('x\ny\n')
  })

  test.each([
    ['the last marker is missing', `x\n${BEGIN}\n100.64.0.1 web-1.mesh\ny\n`],
    ['the first marker is missing', `x\n100.64.0.1 web-1.mesh\n${END}\ny\n`],
    ['they are in the other order', `${END}\n${BEGIN}\n`],
    ['there are two blocks', BLOCK + BLOCK],
    ['a marker is there twice', `${BEGIN}\n${BLOCK}`],
    ['the last marker is there twice', `${BLOCK}${END}\n`],
  ])('is refused where %s', (_, broken) => {
    for (const change of [() => withBlock(broken, 'ctl0', WEB), () => withoutBlock(broken, 'ctl0')])
      expect(change).toThrow(
        expect.objectContaining({
          code: 'hosts_block_broken',
          exitCode: 6,
          message: 'The block of mesh names in the hosts file is broken: its two marker lines are not one pair.',
        }),
      )
  })
})
