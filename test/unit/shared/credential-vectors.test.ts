import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseApiToken, parseJoinToken, parseNsk } from '../../../src/shared/credential-formats.ts'
import { readVectors } from '../../support/run/vectors.ts'

const { vectors } = readVectors<{ text: string }, Readonly<Record<string, string | null>>>('credential-formats')

function read(text: string): Readonly<Record<string, string | null>> {
  const nsk = parseNsk(text)
  if (nsk !== undefined) {
    const { env, nodeId, kid, key } = nsk
    return { kind: 'node secret key', env, node_id: nodeId, kid, key_hex: Buffer.from(key).toString('hex') }
  }
  const api = parseApiToken(text)
  if (api !== undefined) return { kind: 'api token', ...api }
  const join = parseJoinToken(text)
  return join === undefined ? { kind: null } : { kind: 'join token', ...join }
}

/** By the lengths of the fields alone, from the end, as a program in any language would. */
function readPlainly(text: string): Readonly<Record<string, string | null>> {
  const kind = { nsk: 'node secret key', psk: 'api token', jtk: 'join token' }[text.slice(0, 3)]
  if (kind === undefined || text.charAt(3) !== '_') return { kind: null }
  return kind === 'node secret key' ? readNskPlainly(text) : readTokenPlainly(kind, text)
}

function readNskPlainly(text: string): Readonly<Record<string, string | null>> {
  const [env, hex, kid, key] = [text.slice(4, -86), text.slice(-85, -53), text.slice(-52, -44), text.slice(-43)]
  const bytes = Buffer.from(key, 'base64url')
  const isCanonical = text === `nsk_${env}_${hex}_${kid}_${bytes.toString('base64url')}`
  if (!isCanonical || !isEnv(env) || !/^[0-9a-f]{32}$/.test(hex) || !/^[0-9A-Za-z]{8}$/.test(kid)) return { kind: null }
  return { kind: 'node secret key', env, node_id: dashed(hex), kid, key_hex: bytes.toString('hex') }
}

function readTokenPlainly(kind: string, text: string): Readonly<Record<string, string | null>> {
  const [env, hex, crc] = [text.slice(4, -83), text.slice(-82, -50), text.slice(-6)]
  if (!isEnv(env) || base62(crc32(text.slice(0, -6))) !== crc) return { kind: null }
  return { kind, env, id: dashed(hex), prefix: text.slice(0, -50) }
}

const isEnv = (env: string): boolean => /^[a-z0-9]{1,16}$/.test(env)
const dashed = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

function base62(value: number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let text = ''
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = digits.charAt(rest % 62) + text
  return text.padStart(6, '0')
}

describe.each([
  ['this package', read],
  ['the lengths of its fields and zlib', readPlainly],
])('A credential, read by %s', (_, reading) => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(reading(input.text)).toEqual(expected)
  })
})
