import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acceptNames } from '../../../../../src/cli/agent/names/accept-names.ts'
import { createRejectionLog } from '../../../../../src/cli/agent/names/rejection-log.ts'

const reasonFor = (name: string, address = '100.64.0.1') => acceptNames([{ name, address }]).rejected[0]?.reason

describe('names of a server', () => {
  test.each(['a', '1', 'web-1', '0', 'a--b', 'xn--bcher-kva', 'a'.repeat(63)])('%s is taken', (name) => {
    expect(acceptNames([{ name, address: '100.64.0.1' }])).toEqual({
      accepted: [{ name, address: '100.64.0.1' }],
      rejected: [],
    })
  })

  test.each([
    '',
    '-a',
    'a-',
    'a'.repeat(64),
    'a b',
    'a\tb',
    'web.1',
    '.',
    'a\n127.0.0.1 bank.example',
    'a\n',
    '\na',
    'a\r',
    'a#',
    '"a"',
    "a'",
    'Web-1',
    'a_b',
    'bücher',
    'a\u0000',
    '\u212a',
  ])('%j is left out', (name) => {
    expect(reasonFor(name)).toMatch(/not a DNS label/)
  })

  test('localhost is left out', () => {
    expect(reasonFor('localhost')).toMatch(/belongs to each machine/)
  })

  test.each([
    '',
    '1.2.3',
    '1.2.3.4.',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4\n',
    '1.2.3.4/32',
    '::1',
    '0x1.2.3.4',
    '1.2.3.4 x',
  ])('the address %j is left out', (address) => {
    expect(reasonFor('web-1', address)).toMatch(/not an IPv4 address/)
  })

  test.each(['0.0.0.0', '127.0.0.1', '127.255.255.255', '169.254.1.1', '224.0.0.1', '255.255.255.255'])(
    'the address %s belongs to no node',
    (address) => {
      expect(reasonFor('web-1', address)).toMatch(/cannot belong/)
    },
  )

  test.each(['1.2.3.4', '10.0.0.0', '100.64.0.255', '223.255.255.255', '169.253.0.1'])(
    'the address %s is taken',
    (address) => {
      expect(reasonFor('web-1', address)).toBeUndefined()
    },
  )

  test('of two nodes with one name the first is taken', () => {
    const { accepted, rejected } = acceptNames([
      { name: 'web-1', address: '100.64.0.1' },
      { name: 'web-1', address: '100.64.0.2' },
    ])
    expect(accepted).toEqual([{ name: 'web-1', address: '100.64.0.1' }])
    expect(rejected).toMatchObject([{ entry: { address: '100.64.0.2' }, reason: 'another node has this name' }])
  })

  test('more than 50,000 entries are cut', () => {
    const entries = Array.from({ length: 50_010 }, (_, n) => ({ name: `n${n}`, address: '100.64.0.1' }))
    const { accepted, rejected } = acceptNames(entries)
    expect(accepted).toHaveLength(50_000)
    expect(rejected).toHaveLength(1)
  })

  test('whatever is taken is one label and one address, unchanged', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z0-9.\n-]{0,70}$/))
    fc.assert(
      fc.property(fc.array(fc.record({ name: text, address: fc.oneof(fc.ipV4(), text) })), (entries) => {
        for (const one of acceptNames(entries).accepted) {
          expect(entries).toContainEqual(one)
          expect(`${one.address} ${one.name}`).toMatch(/^\d+\.\d+\.\d+\.\d+ [a-z0-9-]{1,63}$/)
        }
      }),
    )
  })
})

describe('the log of names that are left out', () => {
  const rejected = (name: string) => ({ entry: { name, address: '100.64.0.1' }, reason: 'it is wrong' })

  test('has each once, without control characters and cut', () => {
    const lines: string[] = []
    const logRejected = createRejectionLog((line) => lines.push(line))
    logRejected([rejected('a\n\u001b[31m'), rejected('a\n\u001b[31m')])
    logRejected([rejected('a\n\u001b[31m'), rejected('b'.repeat(10_000))])
    expect(lines).toEqual([
      'The name "a\\n\\u001b[31m" of "100.64.0.1" is left out: it is wrong.',
      `The name "${'b'.repeat(80)}…" of "100.64.0.1" is left out: it is wrong.`,
    ])
  })

  test('ends after a hundred, which its last line states', () => {
    const lines: string[] = []
    const logRejected = createRejectionLog((line) => lines.push(line))
    logRejected(Array.from({ length: 5_000 }, (_, n) => rejected(`${n}.`)))
    logRejected([rejected('another.')])
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toBe('More names are left out; they are not logged.')
  })
})
