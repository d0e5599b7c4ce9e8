import { type Answer, decode, encode, type Packet, type RecordType } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerQuery } from '../../../../../src/cli/agent/names/answer-query.ts'
import { createNameTable } from '../../../../../src/cli/agent/names/name-table.ts'

const table = createNameTable([
  { name: 'web-1', address: '100.64.0.1' },
  { name: 'web-2', address: '100.64.0.2' },
])

function query(name: string, type: RecordType | 'ANY' | 'UNKNOWN_65' = 'A', packet: Packet = {}): Buffer {
  return encode({ type: 'query', id: 4711, flags: 0x100, questions: [{ name, type: type as RecordType }], ...packet })
}

function ask(bytes: Buffer, transport: 'udp' | 'tcp' = 'udp', names = table) {
  const answer = answerQuery(bytes, names, transport)
  if (answer === undefined) return undefined
  const packet = decode(answer)
  return { ...packet, rcode: answer.readUInt16BE(2) & 0xf, bytes: answer }
}

const edns = (more: object = {}): Answer => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1400,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
  ...more,
})

/** Header of a query with these counts, then these bytes. */
function raw(counts: readonly number[], ...body: readonly number[]): Buffer {
  const header = Buffer.from([0x12, 0x67, 0x01, 0x00, 0, 0, 0, 0, 0, 0, 0, 0])
  counts.forEach((count, place) => header.writeUInt16BE(count, 4 + 2 * place))
  return Buffer.concat([header, Buffer.from(body)])
}

const label = (text: string) => [text.length, ...Buffer.from(text, 'latin1')]
const A_IN = [0, 1, 0, 1]

describe('names under mesh', () => {
  test('A of a node is its address in the mesh, with authority and for seconds only', () => {
    expect(ask(query('web-2.mesh'))).toMatchObject({
      id: 4711,
      type: 'response',
      rcode: 0,
      flag_aa: true,
      flag_rd: true,
      flag_ra: false,
      questions: [{ name: 'web-2.mesh', type: 'A', class: 'IN' }],
      answers: [{ name: 'web-2.mesh', type: 'A', class: 'IN', ttl: 5, data: '100.64.0.2' }],
      authorities: [],
      additionals: [],
    })
  })

  test('ANY of a node is its address', () => {
    expect(ask(query('web-2.mesh', 'ANY'))).toMatchObject({ rcode: 0, answers: [{ type: 'A', data: '100.64.0.2' }] })
  })

  test('the case of the question does not matter, and the answer keeps it', () => {
    const answer = ask(query('wEB-2.mEsH'))
    expect(answer?.questions?.[0]?.name).toBe('wEB-2.mEsH')
    expect(answer?.answers).toMatchObject([{ name: 'wEB-2.mEsH', data: '100.64.0.2' }])
  })

  test.each(['AAAA', 'MX', 'TXT', 'UNKNOWN_65'] as const)(
    '%s of a node has no data; a SOA limits how long that is cached',
    (type) => {
      expect(ask(query('web-1.mesh', type))).toMatchObject({
        rcode: 0,
        flag_aa: true,
        answers: [],
        authorities: [{ type: 'SOA', name: 'mesh', ttl: 1, data: { minimum: 1 } }],
      })
    },
  )

  test.each(['nope.mesh', 'a.web-1.mesh', 'web-1.web-1.mesh'])(
    '%s does not exist; a SOA limits how long that is cached',
    (name) => {
      expect(ask(query(name))).toMatchObject({ rcode: 3, flag_aa: true, answers: [], authorities: [{ type: 'SOA' }] })
    },
  )

  test('the zone itself has a SOA and no address', () => {
    expect(ask(query('mesh', 'SOA'))).toMatchObject({ rcode: 0, answers: [{ type: 'SOA', name: 'mesh' }] })
    expect(ask(query('mesh'))).toMatchObject({ rcode: 0, answers: [], authorities: [{ type: 'SOA' }] })
  })

  test('a dot within a label is no separator', () => {
    const one = raw([1, 0, 0, 0], ...label('web-1.mesh'), 0, ...A_IN)
    expect(ask(one)).toMatchObject({ rcode: 5, answers: [] })
    const inside = raw([1, 0, 0, 0], ...label('x.web-1'), ...label('mesh'), 0, ...A_IN)
    expect(ask(inside)).toMatchObject({ rcode: 3, answers: [] })
  })

  test('the question is repeated byte by byte, whatever bytes its labels have', () => {
    const bytes = raw([1, 0, 0, 0], 3, 0xff, 0x00, 0x2e, ...label('mesh'), 0, ...A_IN)
    const answer = ask(bytes)
    expect(answer?.rcode).toBe(3)
    expect(answer?.bytes.subarray(12, bytes.byteLength)).toEqual(bytes.subarray(12))
  })
})

describe('other names', () => {
  test.each(['example.com', 'mesh.example.com', 'web-1', '.'])('%s is refused', (name) => {
    expect(ask(query(name))).toMatchObject({ rcode: 5, flag_aa: false, answers: [], authorities: [] })
  })

  test('PTR of an address of the table is its name', () => {
    expect(ask(query('2.0.64.100.in-addr.arpa', 'PTR'))).toMatchObject({
      rcode: 0,
      answers: [{ type: 'PTR', name: '2.0.64.100.in-addr.arpa', data: 'web-2.mesh' }],
    })
  })

  test('another type of such an address has no data', () => {
    expect(ask(query('2.0.64.100.in-addr.arpa', 'TXT'))).toMatchObject({ rcode: 0, answers: [] })
  })

  test.each(['9.0.64.100.in-addr.arpa', '02.0.64.100.in-addr.arpa', '0.64.100.in-addr.arpa', '1.in-addr.arpa'])(
    'PTR of %s is refused: other resolvers know it',
    (name) => {
      expect(ask(query(name, 'PTR'))).toMatchObject({ rcode: 5, answers: [] })
    },
  )
})

describe('queries that are refused', () => {
  test.each(['CH', 'HS', 'ANY'] as const)('class %s', (classOf) => {
    const bytes = encode({ id: 1, questions: [{ name: 'web-1.mesh', type: 'A', class: classOf }] })
    expect(ask(bytes)).toMatchObject({ rcode: 5, answers: [] })
  })

  test.each(['AXFR', 'IXFR'] as const)('%s', (type) => {
    expect(ask(query('mesh', type))).toMatchObject({ rcode: 5, answers: [] })
  })

  test.each([1, 2, 4, 5, 15])('opcode %i is not implemented', (opcode) => {
    const bytes = query('web-1.mesh')
    bytes.writeUInt16BE(opcode << 11, 2)
    expect(ask(bytes)).toMatchObject({ id: 4711, rcode: 4, answers: [] })
  })

  const name = [...label('web-1'), ...label('mesh'), 0]
  const record = [...name, ...A_IN, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4]
  test.each([
    ['no question', raw([0, 0, 0, 0])],
    ['two questions', raw([2, 0, 0, 0], ...name, ...A_IN, ...name, ...A_IN)],
    ['65,535 questions', raw([65_535, 0, 0, 0], ...name, ...A_IN)],
    ['an answer', raw([1, 1, 0, 0], ...name, ...A_IN, ...record)],
    ['an authority', raw([1, 0, 1, 0], ...name, ...A_IN, ...record)],
    ['many additional records', raw([1, 0, 0, 3], ...name, ...A_IN, ...record, ...record, ...record)],
    ['a name that does not end', raw([1, 0, 0, 0], 63, 97)],
    ['no type', raw([1, 0, 0, 0], ...name, 0)],
    ['a compressed question', raw([1, 0, 0, 0], 0xc0, 0x0c, ...A_IN)],
    ['a label of 64 bytes', raw([1, 0, 0, 0], 64, ...Array<number>(64).fill(97), 0, ...A_IN)],
    ['a name of 256 bytes', raw([1, 0, 0, 0], ...Array.from({ length: 127 }, () => [1, 97]).flat(), 1, 0, ...A_IN)],
    ['bytes after its end', raw([1, 0, 0, 0], ...name, ...A_IN, 0)],
    ['more than 4,096 bytes', Buffer.concat([query('web-1.mesh'), Buffer.alloc(4096)])],
    ['an additional record that is cut', raw([1, 0, 0, 1], ...name, ...A_IN, 0, 0)],
  ])('%s is a format error', (_, bytes) => {
    expect(ask(bytes)).toMatchObject({ id: bytes.readUInt16BE(0), rcode: 1, answers: [] })
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a header', query('web-1.mesh').subarray(0, 11)],
    ['an answer', encode({ type: 'response', id: 1, questions: [{ name: 'web-1.mesh', type: 'A' }] })],
  ])('%s is not answered', (_, bytes) => {
    expect(answerQuery(bytes, table, 'udp')).toBeUndefined()
  })
})

describe('EDNS', () => {
  test('an OPT record is answered by one, with the DO bit of the query and none of its options', () => {
    const asked = edns({ flags: 0x8000, options: [{ code: 10, data: Buffer.alloc(8) }] })
    expect(ask(query('web-1.mesh', 'A', { additionals: [asked] }))).toMatchObject({
      rcode: 0,
      answers: [{ data: '100.64.0.1' }],
      additionals: [{ type: 'OPT', udpPayloadSize: 1232, ednsVersion: 0, flag_do: true, options: [] }],
    })
  })

  test('a later version is answered by BADVERS', () => {
    expect(ask(query('web-1.mesh', 'A', { additionals: [edns({ ednsVersion: 1 })] }))).toMatchObject({
      rcode: 0,
      answers: [],
      additionals: [{ type: 'OPT', extendedRcode: 1, ednsVersion: 0 }],
    })
  })

  test('two OPT records are a format error', () => {
    expect(ask(query('web-1.mesh', 'A', { additionals: [edns(), edns()] }))).toMatchObject({ rcode: 1, answers: [] })
  })
})

describe('large answers', () => {
  const many = createNameTable(Array.from({ length: 40 }, (_, n) => ({ name: `node-${n}`, address: '100.64.0.7' })))
  const bytes = query('7.0.64.100.in-addr.arpa', 'PTR')

  test('over UDP they are empty and marked as truncated', () => {
    expect(ask(bytes, 'udp', many)).toMatchObject({ rcode: 0, flag_tc: true, answers: [] })
  })

  test('over TCP they are whole', () => {
    const answer = ask(bytes, 'tcp', many)
    expect(answer).toMatchObject({ rcode: 0, flag_tc: false })
    expect(answer?.answers).toHaveLength(40)
  })

  test('UDP carries as much as the EDNS record allows, up to 1,232 bytes', () => {
    const some = createNameTable(Array.from({ length: 12 }, (_, n) => ({ name: `node-${n}`, address: '100.64.0.7' })))
    expect(ask(bytes, 'udp', some)).toMatchObject({ flag_tc: true })
    const wide = query('7.0.64.100.in-addr.arpa', 'PTR', { additionals: [edns({ udpPayloadSize: 65_535 })] })
    expect(ask(wide, 'udp', some)).toMatchObject({ flag_tc: false })
    expect(ask(wide, 'udp', many)).toMatchObject({ flag_tc: true })
    const narrow = query('7.0.64.100.in-addr.arpa', 'PTR', { additionals: [edns({ udpPayloadSize: 1 })] })
    expect(ask(narrow, 'udp', some)).toMatchObject({ flag_tc: true })
  })
})

describe('any bytes', () => {
  const valid = fc
    .record({
      name: fc.constantFrom('web-1.mesh', 'WEB-2.mesh', 'nope.mesh', '2.0.64.100.in-addr.arpa', 'example.com'),
      type: fc.constantFrom<RecordType | 'ANY'>('A', 'AAAA', 'PTR', 'ANY', 'SOA', 'TXT'),
      additionals: fc.constantFrom<Answer[]>([], [edns()]),
    })
    .map(({ name, type, additionals }) => query(name, type, { additionals }))
  const changed = fc
    .tuple(valid, fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 4 }), fc.nat(90))
    .map(([bytes, changes, length]) => {
      for (const [place, value] of changes) if (place < bytes.byteLength) bytes[place] = value
      return length > 80 ? bytes : bytes.subarray(0, length)
    })
  const arbitrary = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes))
  const shaped = arbitrary.map((bytes) => raw([1, 0, 0, bytes.byteLength % 3], ...bytes))

  test('an answer is one to this query, fits its transport, and has only records of the name that was asked for', () => {
    fc.assert(
      fc.property(fc.oneof(changed, arbitrary, shaped), fc.constantFrom('udp', 'tcp'), (bytes, transport) => {
        const answer = answerQuery(Buffer.from(bytes), table, transport)
        if (answer === undefined) {
          expect(bytes.byteLength < 12 || (bytes.readUInt16BE(2) & 0x8000) !== 0).toBe(true)
          return
        }
        expect(answer.byteLength).toBeLessThanOrEqual(transport === 'udp' ? 1232 : 65_535)
        expect(answer.readUInt16BE(0)).toBe(bytes.readUInt16BE(0))
        expect(answer.readUInt16BE(2) & 0x8000).toBe(0x8000)
        const packet = decode(answer)
        expect(decode.bytes).toBe(answer.byteLength)
        const asked = packet.questions?.[0]?.name
        for (const record of packet.answers ?? []) {
          expect(record.name).toBe(asked)
          if (record.type === 'A') expect(record.data).toBe(table.addressOf(record.name.toLowerCase().slice(0, -5)))
        }
      }),
      { numRuns: 3_000 },
    )
  })
})
