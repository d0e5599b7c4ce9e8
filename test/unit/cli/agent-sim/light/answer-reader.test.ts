import { expect, test } from 'vitest'
import { AnswerReader, headersOf } from '../../../../../src/cli/agent-sim/light/answer-reader.ts'

/** Reads the chunks and writes down what arrives; the parts of one body are joined. */
function read(chunks: readonly string[]) {
  const seen: string[] = []
  let body = ''
  const reader = new AnswerReader({
    head: ({ status }) => seen.push(`head ${status}`),
    body: (bytes) => (body += bytes.toString('latin1')),
    end() {
      seen.push(`body ${body}`)
      body = ''
    },
  })
  for (const chunk of chunks) reader.feed(Buffer.from(chunk, 'latin1'))
  return { seen, isWhole: reader.close() }
}

const SIZED = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nTrailer: 1\r\n\r\n'
const UNCHANGED = 'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n'
const HINTED = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'
const ENDLESS = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nto the end'

test.each([
  ['a sized one', SIZED, ['head 200', 'body body']],
  ['a chunked one with extensions and trailers', CHUNKED, ['head 200', 'body abcd']],
  ['one without a body', UNCHANGED, ['head 304', 'body ']],
  ['one after an informational one', HINTED + SIZED, ['head 200', 'body body']],
  [
    'three in succession',
    UNCHANGED + CHUNKED + SIZED,
    ['head 304', 'body ', 'head 200', 'body abcd', 'head 200', 'body body'],
  ],
  ['one that the end of the connection ends', ENDLESS, ['head 200', 'body to the end']],
])('an answer is the same however it is cut into chunks: %s', (_, text, expected) => {
  for (let size = 1; size <= text.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (__, at) =>
      text.slice(at * size, (at + 1) * size),
    )
    expect(read(chunks)).toEqual({ seen: expected, isWhole: true })
  }
})

test('an answer that breaks off is not whole', () => {
  expect(read([SIZED.slice(0, -1)])).toEqual({ seen: ['head 200'], isWhole: false })
  expect(read(['HTTP/1.1 200 O'])).toEqual({ seen: [], isWhole: false })
})

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['a size that is no number', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n'],
  ['a head without an end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`],
])('what is not HTTP is refused: %s', (_, text) => {
  expect(() => read([text])).toThrow('it does not speak HTTP')
})

test('headers have lower-case names, and repeated ones are joined', () => {
  expect(headersOf({ status: 200, text: 'HTTP/1.1 200 OK\r\nETag: "a"\r\nVary: a\r\nvary:b' })).toEqual({
    etag: '"a"',
    vary: 'a, b',
  })
})
