import { tunnelFault } from '../tunnel-fault.ts'

/** A value of a message: text or bytes, a list of them, or a section. */
export type ViciValue = string | Uint8Array | readonly (string | Uint8Array)[] | ViciSection

/** Names and values. */
export interface ViciSection {
  readonly [name: string]: ViciValue
}

/** A section as it was read: text is UTF-8. */
export interface ReadSection {
  readonly [name: string]: string | readonly string[] | ReadSection
}

const ELEMENT = { sectionStart: 1, sectionEnd: 2, keyValue: 3, listStart: 4, listItem: 5, listEnd: 6 } as const
const NAME_BYTES_MAX = 255
const VALUE_BYTES_MAX = 65_535

/**
 * Encodes a message of strongSwan's control interface, vici. Names and values have lengths, so that none needs to be escaped.
 *
 * @see https://github.com/strongswan/strongswan/blob/5.9.8/src/libcharon/plugins/vici/README.md
 */
export function encodeMessage(section: ViciSection): Buffer {
  return Buffer.concat(Object.entries(section).map(([name, value]) => encodeElement(name, value)))
}

function encodeElement(name: string, value: ViciValue): Buffer {
  if (isText(value)) return Buffer.concat([byte(ELEMENT.keyValue), nameOf(name), valueOf(value)])
  if (isList(value)) {
    const items = value.flatMap((item) => [byte(ELEMENT.listItem), valueOf(item)])
    return Buffer.concat([byte(ELEMENT.listStart), nameOf(name), ...items, byte(ELEMENT.listEnd)])
  }
  return Buffer.concat([byte(ELEMENT.sectionStart), nameOf(name), encodeMessage(value), byte(ELEMENT.sectionEnd)])
}

function isText(value: ViciValue): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array
}

function isList(value: ViciValue): value is readonly (string | Uint8Array)[] {
  return Array.isArray(value)
}

function byte(value: number): Buffer {
  return Buffer.from([value])
}

function nameOf(name: string): Buffer {
  const bytes = Buffer.from(name)
  if (bytes.length > NAME_BYTES_MAX) throw tunnelFault('A name is too long for strongSwan.')
  return Buffer.concat([byte(bytes.length), bytes])
}

function valueOf(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  if (bytes.length > VALUE_BYTES_MAX) throw tunnelFault('A value is too long for strongSwan.')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Decodes a message. @throws CliError where it is none. */
export function decodeMessage(bytes: Buffer): ReadSection {
  const cursor = { bytes, at: 0 }
  const section = readSection(cursor, 0)
  if (cursor.at !== bytes.length) return malformed()
  return section
}

interface Cursor {
  readonly bytes: Buffer
  at: number
}

const DEPTH_MAX = 16

function readSection(cursor: Cursor, depth: number): ReadSection {
  if (depth > DEPTH_MAX) return malformed()
  const members: [string, ReadSection[string]][] = []
  while (cursor.at < cursor.bytes.length) {
    const type = take(cursor, 1)[0]
    if (type === ELEMENT.sectionEnd && depth > 0) return Object.fromEntries(members)
    const name = readName(cursor)
    if (type === ELEMENT.keyValue) members.push([name, readValue(cursor)])
    else if (type === ELEMENT.listStart) members.push([name, readList(cursor)])
    else if (type === ELEMENT.sectionStart) members.push([name, readSection(cursor, depth + 1)])
    else return malformed()
  }
  return depth === 0 ? Object.fromEntries(members) : malformed()
}

function readList(cursor: Cursor): readonly string[] {
  const items: string[] = []
  for (;;) {
    const type = take(cursor, 1)[0]
    if (type === ELEMENT.listEnd) return items
    if (type !== ELEMENT.listItem) return malformed()
    items.push(readValue(cursor))
  }
}

function readName(cursor: Cursor): string {
  return take(cursor, take(cursor, 1)[0] ?? 0).toString()
}

function readValue(cursor: Cursor): string {
  return take(cursor, take(cursor, 2).readUInt16BE()).toString()
}

function take(cursor: Cursor, length: number): Buffer {
  const end = cursor.at + length
  if (end > cursor.bytes.length) return malformed()
  const part = cursor.bytes.subarray(cursor.at, end)
  cursor.at = end
  return part
}

function malformed(): never {
  throw tunnelFault('strongSwan answered with something that is not a message of its control interface.')
}
